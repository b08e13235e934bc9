#include "thor/line/core_wing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "thor/core/constants.hpp"

namespace thor {
namespace {

/// The larger root of e^{-x^2} = a/(sqrt(pi) x^2), by bisection in ln: x^2 - ln x^2 rises beyond x = 1.
double root(double a) {
  double low = 1, high = 40;
  while (high - low > 3e-16 * high) {
    const double x = (low + high) / 2;
    if (x == low || x == high) break;
    (x * x - 2 * std::log(x) < -std::log(a / std::sqrt(constants::pi)) ? low : high) = x;
  }
  return low;
}

template <class V>
struct CoreWing : ::testing::Test {
  using Real = RealOf<V>;
  static constexpr bool single = sizeof(Real) == 4;
  static std::array<Real, Value<V>::lanes> lanes(V v) {
    std::array<Real, Value<V>::lanes> r;
    store(v, r.data());
    return r;
  }
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(CoreWing, ValueTypes);

TYPED_TEST(CoreWing, TheExactRootHasFullPrecision) {
  using Real = typename TestFixture::Real;
  const double bound = this->single ? 3e-7 : 1e-15;
  double twin = 1;
  for (double exponent = -12; exponent < -0.7; exponent += 0.003) {
    const Real a = Real(std::pow(10., exponent));
    const double expected = root(double(a));
    for (const Real x : this->lanes(core_wing_exact(TypeParam(a)))) {
      ASSERT_NEAR(double(x) / expected, 1, bound) << a;
      ASSERT_EQ(x, core_wing_exact(a)) << a;
    }
    twin = std::min(twin, std::abs(this->lanes(core_wing_exact(TypeParam(Real(1.001) * a)))[0] / expected - 1));
  }
  EXPECT_GT(twin, 10 * bound);  // an error of a thousandth in a is detected
  // Towards a = sqrt(pi)/e = 0.652 the root becomes double; beyond there is none.
  for (const double a : {0.3, 0.5, 0.6, 0.65})
    EXPECT_NEAR(double(this->lanes(core_wing_exact(TypeParam(Real(a))))[0]) / root(double(Real(a))), 1,
                this->single ? 1e-4 : 1e-9)
        << a;
  for (const double a : {0.66, 1., 10.})
    EXPECT_NEAR(double(this->lanes(core_wing_exact(TypeParam(Real(a))))[0]), 1, 2e-3) << a;
}

// The paper: S15 is within 0.1 % up to 1e4 K and drops to 1 % above; B25 stays within 0.6 %.
TYPED_TEST(CoreWing, TheApproximationsAreAsGoodAsStated) {
  using Real = typename TestFixture::Real;
  const auto error = [](auto scheme, double a) {
    return std::abs(double(TestFixture::lanes(scheme(TypeParam(Real(a))))[0]) / root(double(Real(a))) - 1);
  };
  double cool = 0, hot = 0, polynomial = 0, fast = 0;
  for (double temperature = 1; temperature < 1.01e7; temperature *= 1.02) {
    const double a = 4.72e-4 * std::sqrt(1e4 / temperature);
    double& s15 = temperature <= 1e4 ? cool : hot;
    s15 = std::max(s15, error([](TypeParam v) { return core_wing_s15(v); }, a));
    polynomial = std::max(polynomial, error([](TypeParam v) { return core_wing_b25(v); }, a));
    fast = std::max(fast, error([](TypeParam v) { return core_wing_b25_fast(v); }, a));
  }
  EXPECT_LT(cool, 1e-3);
  EXPECT_LT(hot, 1.2e-2);
  EXPECT_LT(polynomial, 6e-3);
  EXPECT_LT(fast, 6e-3);
}

}  // namespace
}  // namespace thor
