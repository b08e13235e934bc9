#include "thor/math/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace thor {
namespace {

/// Type of the reference values: at least 11 digits more than Real, so that its own error is negligible.
template <class Real>
using Wide = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

template <class Real>
using Arguments = std::vector<Real>;

/// f over the points, as many at a time as V holds.
template <class V, class F>
Arguments<RealOf<V>> map(Arguments<RealOf<V>> points, F f) {
  const std::size_t size = points.size(), lanes = Value<V>::lanes;
  points.resize((size + lanes - 1) / lanes * lanes, RealOf<V>(1));
  for (std::size_t i = 0; i < points.size(); i += lanes) store(f(load<V>(&points[i])), &points[i]);
  points.resize(size);
  return points;
}

/// f over the points; a pack must give bit-identical results to the scalar.
template <class V, class F>
Arguments<RealOf<V>> evaluate(const Arguments<RealOf<V>>& points, F f) {
  const auto result = map<V>(points, f), scalar = map<RealOf<V>>(points, f);
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(to_bits(result[i]), to_bits(scalar[i])) << "lane differs from scalar at " << points[i];
  return result;
}

/// The ends of [low, high] and 40 points per decade.
template <class Real>
Arguments<Real> log_spaced(double low, double high, bool both_signs) {
  Arguments<Real> points{Real(low), Real(high)};
  for (double x = low; x < high; x *= std::pow(10., 1 / 40.)) points.push_back(Real(x));
  if (both_signs)
    for (std::size_t i = 0, n = points.size(); i < n; ++i) points.push_back(-points[i]);
  return points;
}
/// The ends of [low, high], random points, and the multiples of `cut`, where a reduction may jump, with neighbours.
template <class Real>
Arguments<Real> spread(double low, double high, double cut) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  Arguments<Real> points{Real(low), Real(high)};
  for (int i = 0; i < 50000; ++i) points.push_back(Real(uniform(random)));
  for (double k = std::ceil(low / cut); k * cut <= high; ++k) {
    const Real x = Real(k * cut), huge = std::numeric_limits<Real>::max();
    for (const Real y : {x, std::nextafter(x, -huge), std::nextafter(x, huge)})
      if (y >= Real(low) && y <= Real(high) && (y == 0 || std::isnormal(y))) points.push_back(y);
  }
  return points;
}
template <class Real>
Arguments<Real> operator+(Arguments<Real> a, const Arguments<Real>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Checks that error(x, y) of y = f(x) stays below the bound; reports where it is largest.
template <class Real, class Error>
void expect_below(double bound, const Arguments<Real>& x, const Arguments<Real>& y, Error error) {
  double largest = -1;
  std::size_t where = 0;
  for (std::size_t i = 0; i < x.size() && !std::isnan(largest); ++i) {
    const double e = double(error(Wide<Real>(x[i]), Wide<Real>(y[i])));
    if (!(e <= largest)) largest = e, where = i;  // so that NaN counts as largest
  }
  EXPECT_LT(largest, bound) << std::setprecision(17) << "at x = " << x[where] << ", f(x) = " << y[where];
}

template <class V>
struct Functions : ::testing::Test {
  using Real = RealOf<V>;
  using W = Wide<Real>;
  static constexpr bool single = sizeof(Real) == 4;
  static constexpr Real largest = std::numeric_limits<Real>::max();
  static constexpr Real smallest = std::numeric_limits<Real>::min();
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Functions, ValueTypes);

const auto exp_of = [](auto x) { return exp(x); };
const auto log_of = [](auto x) { return log(x); };
const auto sqrt_of = [](auto x) { return sqrt(x); };
const auto atan_of = [](auto x) { return atan(x); };
const auto sin_of = [](auto x) { return sincos_2pi(x).sin; };
const auto cos_of = [](auto x) { return sincos_2pi(x).cos; };

TYPED_TEST(Functions, ExpIsAccurateOverItsRange) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  constexpr bool single = TestFixture::single;
  const double low = single ? -87 : -708, high = single ? 88 : 709;
  const auto x = spread<Real>(low, high, std::numbers::ln2 / 2) + log_spaced<Real>(1e-30, high - 1, true);
  const auto y = evaluate<TypeParam>(x, exp_of);
  expect_below(single ? 2e-7 : 4e-16, x, y, [](W t, W v) { return std::abs(v / std::exp(t) - 1); });
}

TYPED_TEST(Functions, ExpIsExactAtZeroAndClamped) {
  using Real = typename TestFixture::Real;
  constexpr bool single = TestFixture::single;
  const Real low = single ? -87 : -708, high = single ? 88 : 709, huge = TestFixture::largest;
  const Arguments<Real> x{
      Real(0), -Real(0), low, 2 * low, -huge, -TestFixture::infinity, high, 2 * high, huge, TestFixture::infinity};
  const auto y = evaluate<TypeParam>(x, exp_of);
  EXPECT_EQ(y[0], Real(1));
  EXPECT_EQ(y[1], Real(1));
  for (int i = 2; i < 6; ++i) {
    EXPECT_TRUE(std::isnormal(y[i]) && y[i] > 0) << x[i];
    EXPECT_EQ(y[i], y[2]) << x[i];
    EXPECT_LT(y[i], single ? Real(2e-38) : Real(4e-308));
  }
  for (int i = 6; i < 10; ++i) {
    EXPECT_TRUE(std::isfinite(y[i])) << x[i];
    EXPECT_EQ(y[i], y[6]) << x[i];
  }
}

TYPED_TEST(Functions, LogIsAccurateForEveryNormalNumber) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const auto x = log_spaced<Real>(TestFixture::smallest, TestFixture::largest, false) + spread<Real>(1e-3, 8, 0.25) +
                 Arguments<Real>{std::numbers::sqrt2_v<Real>, std::numbers::sqrt2_v<Real> / 2};
  const auto y = evaluate<TypeParam>(x, log_of);
  const auto error = [](W t, W v) { return std::abs(v - std::log(t)) / std::max(W(1), std::abs(std::log(t))); };
  expect_below(TestFixture::single ? 2e-7 : 4e-16, x, y, error);
}

TYPED_TEST(Functions, LogIsRelativelyAccurateAroundOne) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const Real step = std::numeric_limits<Real>::epsilon();
  auto x = spread<Real>(0.75, 1.3, 1);
  for (Real d = step; d < Real(0.1); d *= Real(1.5)) x.push_back(1 + d), x.push_back(1 - d);
  std::erase(x, Real(1));
  const auto y = evaluate<TypeParam>(x, log_of);
  expect_below(TestFixture::single ? 2e-7 : 4e-16, x, y, [](W t, W v) { return std::abs(v / std::log(t) - 1); });
}

TYPED_TEST(Functions, LogAtUniformsExtremes) {
  using Real = typename TestFixture::Real;
  const Real below_one = 1 - std::numeric_limits<Real>::epsilon() / 2;
  const Arguments<Real> x{Real(1), Real(0x1p-32), Real(0x1p-62), Real(0x1p-24), below_one};
  const auto y = evaluate<TypeParam>(x, log_of);
  EXPECT_EQ(y[0], Real(0));
  const double bound = TestFixture::single ? 2e-7 : 4e-16;
  for (int i = 1; i < 5; ++i) EXPECT_NEAR(y[i] / std::log(typename TestFixture::W(x[i])), 1, bound) << x[i];
  EXPECT_LT(y[4], Real(0));
}

TYPED_TEST(Functions, FastLog2AndFastCbrt) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const auto x = log_spaced<Real>(TestFixture::smallest, TestFixture::largest, false) + spread<Real>(0.1, 8, 0.25);
  const auto log2 = evaluate<TypeParam>(x, [](auto t) { return fast_log2(t); });
  const auto cbrt = evaluate<TypeParam>(x, [](auto t) { return fast_cbrt(t); });
  expect_below(1.1e-3, x, log2, [](W t, W v) { return std::abs(v - std::log2(t)); });
  expect_below(1e-3, x, cbrt, [](W t, W v) { return std::abs(v / std::cbrt(t) - 1); });
}

TYPED_TEST(Functions, QuarterTurns) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const auto v = spread<Real>(0, 1, 0.125) + log_spaced<Real>(1e-15, 1, false);
  const auto sine = evaluate<TypeParam>(v, [](auto t) { return sin_quarter_turn(t); });
  const auto cosine = evaluate<TypeParam>(v, [](auto t) { return cos_quarter_turn(t); });
  const double bound = TestFixture::single ? 2e-7 : 4e-16;
  const W quarter = std::numbers::pi_v<W> / 2;
  expect_below(bound, v, sine,
               [&](W t, W y) { return t == 0 ? std::abs(y) : std::abs(y / std::sin(quarter * t) - 1); });
  expect_below(bound, v, cosine, [&](W t, W y) { return std::abs(y - std::cos(quarter * t)); });
  EXPECT_EQ(sine[0], Real(0));
  EXPECT_EQ(cosine[0], Real(1));
  EXPECT_EQ(cosine[1], Real(0));  // v[1] = 1
}

TYPED_TEST(Functions, SinCosIsAccurate) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const double end = 0x1p20 - (TestFixture::single ? 0.0625 : 0x1p-32);
  const auto x = spread<Real>(-2, 2, 0.125) + spread<Real>(-end, end, 0x1p14) + log_spaced<Real>(1e-30, end, true);
  const auto turns = [](W t) { return 2 * std::numbers::pi_v<W> * std::remainder(t, W(1)); };
  const double bound = TestFixture::single ? 2e-7 : 4e-16;
  const auto sine = evaluate<TypeParam>(x, sin_of), cosine = evaluate<TypeParam>(x, cos_of);
  expect_below(bound, x, sine, [&](W t, W v) { return std::abs(v - std::sin(turns(t))); });
  expect_below(bound, x, cosine, [&](W t, W v) { return std::abs(v - std::cos(turns(t))); });
}

TYPED_TEST(Functions, SinCosAtEighths) {
  using Real = typename TestFixture::Real;
  Arguments<Real> x;
  for (int k = -40; k <= 40; ++k) x.push_back(Real(k) / 8);
  const auto sine = evaluate<TypeParam>(x, sin_of), cosine = evaluate<TypeParam>(x, cos_of);
  const double bound = TestFixture::single ? 1.2e-7 : 2.3e-16, root = std::numbers::sqrt2 / 2;
  const double exact[] = {0, root, 1, root, 0, -root, -1, -root};
  for (int k = -40; k <= 40; ++k) {
    const double s = exact[(k + 80) % 8], c = exact[(k + 82) % 8];
    EXPECT_NEAR(sine[k + 40], s, k % 2 ? bound : 0) << k << "/8";
    EXPECT_NEAR(cosine[k + 40], c, k % 2 ? bound : 0) << k << "/8";
  }
}

TYPED_TEST(Functions, AtanIsAccurateForEveryNumber) {
  using Real = typename TestFixture::Real;
  using W = typename TestFixture::W;
  const double tangent = std::numbers::sqrt2 - 1;
  const auto x = log_spaced<Real>(TestFixture::smallest, TestFixture::largest, true) + spread<Real>(-6, 6, tangent) +
                 spread<Real>(-6, 6, 1 / tangent) + Arguments<Real>{TestFixture::infinity, -TestFixture::infinity};
  const auto y = evaluate<TypeParam>(x, atan_of);
  const auto error = [](W t, W v) { return t == 0 ? std::abs(v) : std::abs(v / std::atan(t) - 1); };
  expect_below(TestFixture::single ? 3e-7 : 6e-16, x, y, error);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::signbit(x[i]), std::signbit(y[i])) << x[i];
}

TYPED_TEST(Functions, SqrtIsCorrectlyRounded) {
  using Real = typename TestFixture::Real;
  auto x = log_spaced<Real>(TestFixture::smallest, TestFixture::largest, false) + spread<Real>(0, 2, 0.25);
  x.push_back(-Real(0));
  const auto y = evaluate<TypeParam>(x, sqrt_of);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(to_bits(y[i]), to_bits(std::sqrt(x[i]))) << x[i];
}

}  // namespace
}  // namespace thor
