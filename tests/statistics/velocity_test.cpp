// The velocity of the atom across the photon, and the optical depth to the next collision, against their pdfs.
#include <gtest/gtest.h>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/distributions/exponential.hpp"
#include "thor/distributions/perpendicular_velocity.hpp"
#include "thor/random/xoshiro.hpp"

namespace velocity_test {

using std::vector;
using test::stream;
using thor::NativePack, thor::RealOf, thor::Value;

/// n numbers, one per lane and call.
template <class V, class F>
vector<double> draw(int n, F&& call) {
  vector<double> samples;
  RealOf<V> lanes[Value<V>::lanes];
  while (int(samples.size()) < n) {
    thor::store(call(), lanes);
    for (const auto v : lanes) samples.push_back(double(v));
  }
  return samples;
}

/// u = M cos(phi) with M^2 - x_crit^2 exponential: p(u) = Int 2 M e^{x_crit^2 - M^2}/(pi sqrt(M^2 - u^2)) dM over
/// M > max(x_crit, |u|). M^2 = u^2 + t^2 removes the square root, and the rest is integrated by the trapezium rule.
double projected_pdf(double x_crit, double u) {
  const double from = std::sqrt(std::max(x_crit * x_crit - u * u, 0.)), step = 0.02 / (1 + from);
  double sum = 0;
  for (int i = 0; i <= 700; ++i) {
    const double t = from + i * step;
    sum += (i == 0 ? 0.5 : 1.) * std::exp(x_crit * x_crit - u * u - t * t);
  }
  return 2 / M_PI * sum * step;
}

/// 1/2 erfc(u): integral of the Gaussian beyond u.
double gaussian_tail(double u) { return 0.5 * std::erfc(u); }

template <class V>
class VelocityTest : public testing::Test {
 protected:
  using Real = RealOf<V>;
  static constexpr int size = 400'000;

  static vector<double> velocities(double x_crit, std::uint64_t seed) {
    auto random = stream<V>(seed);
    return draw<V>(size, [&] {
      const auto radius = random.next(), angle = random.next();
      return thor::sample_perpendicular_velocity(V(Real(x_crit)), {thor::uniform_positive<V>(radius), angle});
    });
  }
  /// p-value of velocities for a given x_crit. A bin ends at the pdf's kink, u = x_crit.
  static double p_value(const vector<double>& u, double x_crit) {
    const double reach = x_crit + 3;
    const double tail = std::exp(x_crit * x_crit) * gaussian_tail(reach);  // p = e^{x_crit^2 - u^2}/sqrt(pi) out there
    return test::chi_square_test(
        u, [&](double v) { return projected_pdf(x_crit, v); }, -reach, reach, int(8 * reach + 0.5), tail, tail);
  }
  static vector<double> depths(std::uint64_t seed, int n = size) {
    auto random = stream<V>(seed);
    return draw<V>(n, [&] { return thor::sample_exponential<V>(random.next()); });
  }
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(VelocityTest, Values);

constexpr int cases = 4 * 4;

TYPED_TEST(VelocityTest, PerpendicularFollowsItsPdf) {
  const auto u = this->velocities(0, 11);
  EXPECT_GT(test::chi_square_test(
                u, [](double v) { return std::exp(-v * v); }, -3.2, 3.2, 64, gaussian_tail(3.2), gaussian_tail(3.2)),
            1e-3 / cases);
  EXPECT_LT(this->p_value(u, 0.1), 1e-6);
  for (const double x_crit : {1., 3., 7.}) {
    const auto v = this->velocities(x_crit, 12 + std::uint64_t(x_crit));
    EXPECT_GT(this->p_value(v, x_crit), 1e-3 / cases) << x_crit;
    EXPECT_LT(this->p_value(v, 1.03 * x_crit), 1e-6) << x_crit;
    EXPECT_LT(this->p_value(v, 0.97 * x_crit), 1e-6) << x_crit;
  }
}

TYPED_TEST(VelocityTest, PerpendicularMoments) {
  for (const double x_crit : {0., 1., 3., 7.}) {
    auto u = this->velocities(x_crit, 22 + std::uint64_t(x_crit));
    const auto first = test::moments(u);
    EXPECT_LT(std::abs(first.mean), 4 * first.error) << x_crit;
    for (double& v : u) v *= v;
    const auto second = test::moments(u);
    EXPECT_LT(std::abs(second.mean - 0.5 * (x_crit * x_crit + 1)), 4 * second.error) << x_crit;
    const double wrong = 1.05 * x_crit + (x_crit == 0 ? 0.3 : 0);
    EXPECT_GT(std::abs(second.mean - 0.5 * (wrong * wrong + 1)), 8 * second.error) << x_crit;
  }
}

TYPED_TEST(VelocityTest, PerpendicularMagnitudeIsNeverBelowTheCut) {
  using V = TypeParam;
  using Real = RealOf<V>;
  using Word = thor::WordOf<V>;
  const double rounding = 8 * std::numeric_limits<Real>::epsilon();
  for (const double x_crit : {0., 1., 3., 7.}) {
    const V cut = V(Real(x_crit));
    // Angle word 0 is along the plane, up to the sign: the projection is the magnitude itself.
    const auto magnitude_of = [&](Word radius) {
      return thor::abs(thor::sample_perpendicular_velocity(cut, {thor::uniform_positive<V>(radius), Word(0u)}));
    };
    auto random = stream<V>(33);
    vector<double> magnitude;
    const auto u = draw<V>(this->size, [&] {
      const auto radius = random.next(), angle = random.next();
      for (const double m : draw<V>(1, [&] { return magnitude_of(radius); })) magnitude.push_back(m);
      return thor::sample_perpendicular_velocity(cut, {thor::uniform_positive<V>(radius), angle});
    });
    const auto [lowest, highest] = std::minmax_element(magnitude.begin(), magnitude.end());
    EXPECT_GE(*lowest, x_crit * (1 - rounding));
    EXPECT_LT(*lowest, x_crit + 0.01) << "the cut is not reached";
    EXPECT_GT(*highest * *highest, x_crit * x_crit + std::log(double(u.size())) - 3);  // the largest of n
    // The remaining angle is uniform, close to the cut and far from it.
    const double half = std::sqrt(x_crit * x_crit + std::log(2.));
    vector<double> turns[2];
    for (std::size_t i = 0; i < u.size(); ++i) {
      ASSERT_LE(std::abs(u[i]), magnitude[i] * (1 + rounding));
      turns[magnitude[i] > half].push_back(std::acos(std::clamp(u[i] / magnitude[i], -1., 1.)) / M_PI);
    }
    for (const auto& part : turns)
      EXPECT_GT(test::chi_square_test(
                    part, [](double) { return 1.; }, 0, 1.0000001, 50),
                1e-3 / 32)
          << x_crit;
    for (const std::uint32_t word : {0u, 1u, 0xffffffffu})
      for (const double m : draw<V>(1, [&] { return magnitude_of(Word(word)); }))
        EXPECT_TRUE(m >= x_crit * (1 - rounding) && m * m < x_crit * x_crit + 23) << m << " for word " << word;
  }
}

TYPED_TEST(VelocityTest, ExponentialFollowsItsPdf) {
  const auto tau = this->depths(41);
  const auto p = [&](double rate) {
    return test::chi_square_test(
        tau, [&](double t) { return rate * std::exp(-rate * t); }, 0, 8, 160, 0, std::exp(-8 * rate));
  };
  EXPECT_GT(p(1), 1e-3 / 4);
  EXPECT_LT(p(1.02), 1e-6);
  EXPECT_LT(p(0.98), 1e-6);
  const auto mean = test::moments(tau);
  EXPECT_LT(std::abs(mean.mean - 1), 4 * mean.error);
  EXPECT_GE(*std::min_element(tau.begin(), tau.end()), 0.);
}

TYPED_TEST(VelocityTest, ExponentialTail) {
  const int n = 6'000'000;
  const auto tau = this->depths(43, n);
  const double seen = double(std::count_if(tau.begin(), tau.end(), [](double t) { return t > 10; }));
  const double expected = n * std::exp(-10.);  // 272
  EXPECT_NEAR(seen, expected, 4 * std::sqrt(expected));
  const double far = double(std::count_if(tau.begin(), tau.end(), [](double t) { return t > 15; }));  // 1.8 expected
  EXPECT_LE(far, 10);
}

// tau falls with the word, so the words below the one where it passes a depth are its tail probability, exactly.
TYPED_TEST(VelocityTest, ExponentialTailWordByWord) {
  using V = TypeParam;
  using Word = thor::WordOf<V>;
  const auto depth = [](std::uint32_t word) {
    return draw<V>(1, [&] { return thor::sample_exponential<V>(Word(word)); })[0];
  };
  for (const double t : {0.01, 1., 5., 10., 15., 18.}) {
    std::uint64_t above = 0, below = 0xffffffff;
    while (below - above > 1) {
      const std::uint64_t middle = (above + below) / 2;
      (depth(std::uint32_t(middle)) > t ? above : below) = middle;
    }
    const double rounding = sizeof(RealOf<V>) == 4 ? 3e-7 * std::max(t, 1.) : 1e-15 * std::max(t, 1.);
    EXPECT_NEAR(double(below) * 0x1p-32, std::exp(-t), 0x1p-31 + rounding * std::exp(-t)) << t;
  }
  EXPECT_NEAR(depth(0), 32 * std::log(2.), 1e-5);
  EXPECT_TRUE(depth(0xffffffff) >= 0 && depth(0xffffffff) < 1e-9);
}

}  // namespace velocity_test
