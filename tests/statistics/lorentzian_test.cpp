// Emission with a Lorentzian profile against its pdf, in the core and in the far wings.
#include <gtest/gtest.h>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/distributions/lorentzian.hpp"

namespace {

using thor::NativePack, thor::RealOf, thor::Value;

template <class V>
class LorentzianTest : public testing::Test {
 protected:
  using Real = RealOf<V>;
  static constexpr int size = 400'000;

  /// tail: the fraction that is cut off.
  static std::vector<double> samples(double tail, std::uint64_t seed) {
    auto random = test::stream<V>(seed);
    std::vector<double> x;
    Real lanes[Value<V>::lanes];
    while (int(x.size()) < size) {
      thor::store(thor::sample_lorentzian(V(Real(tail)), random.next()), lanes);
      for (const auto v : lanes) x.push_back(double(v));
    }
    return x;
  }
  /// p-value for the density 1/(1 + (x/width)^2) up to the cut.
  static double p_value(const std::vector<double>& x, double tail, double width = 1) {
    std::vector<double> place;
    for (const double v : x) place.push_back(0.5 + std::atan(v / width) / (M_PI * (1 - tail)));
    return test::chi_square_test(
        place, [](double) { return 1.; }, 0, 1, 100);
  }
  /// The same for the wings alone, |x| > 100, where 1/|x| is uniform.
  static double p_value_of_wings(const std::vector<double>& x, double tail, double shift = 0) {
    const double cut = std::tan(M_PI * tail / 2);
    std::vector<double> inverse;
    for (const double v : x) {
      if (std::abs(v) > 100) inverse.push_back(std::atan(1 / std::abs(v)) + shift);
    }
    EXPECT_GT(inverse.size(), 1000u);
    return test::chi_square_test(
        inverse, [](double) { return 1.; }, std::atan(cut), std::atan(0.01), 20);
  }
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(LorentzianTest, Values);

TYPED_TEST(LorentzianTest, FollowsItsPdf) {
  for (const double tail : {0., 1e-6, 0.01}) {
    const auto x = this->samples(tail, 31);
    EXPECT_GT(this->p_value(x, tail), 1e-3) << tail;
    EXPECT_LT(this->p_value(x, tail, 1.03), 1e-6) << "another width, " << tail;
    EXPECT_LT(this->p_value(x, tail == 0 ? 0.02 : 0), tail == 1e-6 ? 1 : 1e-6) << "another cut, " << tail;
  }
}

TYPED_TEST(LorentzianTest, HasItsWings) {
  for (const double tail : {0., 1e-6, 1e-3}) {
    const auto x = this->samples(tail, 32);
    EXPECT_GT(this->p_value_of_wings(x, tail), 1e-3) << tail;
    EXPECT_LT(this->p_value_of_wings(x, tail, 0.0005), 1e-6) << tail;
  }
}

TYPED_TEST(LorentzianTest, IsCut) {
  const double tail = 0.01, most = 1 / std::tan(M_PI * tail / 2);
  double largest = 0;
  for (const double x : this->samples(tail, 33)) largest = std::max(largest, std::abs(x));
  EXPECT_LE(largest, most * (1 + 1e-5));
  EXPECT_GT(largest, 0.99 * most);
}

}  // namespace
