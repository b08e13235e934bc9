#include "thor/line/voigt_schemes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>
#ifdef THOR_HAVE_CERF
#include <cerf.h>
#endif

namespace thor {
namespace {

/// Denser in the core, with both sides of the schemes' cuts in |x| + a.
std::vector<double> frequencies(double a, double end) {
  std::vector<double> x{0, 1e-6, 0.9246, 0.9247};
  for (const double cut : {0.176 / 0.195 + a / 0.195, 5.5 - a, 15. - a})
    for (const double side : {0.999999, 1.000001}) x.push_back(cut * side);
  for (double t = 0; t <= 8; t += 0.0173) x.push_back(t);
  for (double t = 8; t <= end; t *= 1.01) x.push_back(t);
  return x;
}

template <class Pair>
struct VoigtSchemes : ::testing::Test {
  using Scheme = typename Pair::first_type;
  using V = typename Pair::second_type;
  using Real = RealOf<V>;
  static constexpr std::size_t lanes = Value<V>::lanes;
  static constexpr bool single = sizeof(Real) == 4;

  static Real lane(V v, std::size_t l) {
    std::array<Real, lanes> r;
    store(v, r.data());
    return r[l];
  }
#ifdef THOR_HAVE_CERF
  /// Largest relative error of H for |x| < end, with a multiplied by `factor`.
  static double worst(double a, double end, double factor = 1) {
    double largest = 0;
    for (const double t : frequencies(a, end)) {
      const Real x = Real(t), width = Real(a);
      const double H = double(lane(Scheme::eval(V(Real(factor) * width), V(x)).H, 0));
      const double error = std::abs(H / re_w_of_z(double(x), double(width)) - 1);
      if (!(error <= largest)) largest = error;
    }
    return largest;
  }
  /// Errors given in the comments of voigt_schemes.hpp.
  static double bound(double a) {
    if constexpr (std::is_same_v<Scheme, VoigtH82>) return a > 9.9e-8 ? 9.7e-5 : 4e-12 / a + 5e-5;
    if constexpr (std::is_same_v<Scheme, VoigtT06>) return a < 1.01e-3 ? 1.25e-2 : 2.1e-2;
    return single ? 3e-4 : 7.8e-5;
  }
#endif
};
template <class S>
using FloatPack = std::pair<S, NativePack<float>>;
template <class S>
using DoublePack = std::pair<S, NativePack<double>>;
using Pairs = ::testing::Types<FloatPack<VoigtH82>, DoublePack<VoigtH82>, FloatPack<VoigtT06>, DoublePack<VoigtT06>,
                               FloatPack<VoigtS18>, DoublePack<VoigtS18>>;
TYPED_TEST_SUITE(VoigtSchemes, Pairs);

TYPED_TEST(VoigtSchemes, AgreeWithLibcerf) {
#ifdef THOR_HAVE_CERF
  const double last = std::is_same_v<typename TestFixture::Scheme, VoigtT06> ? 1e-2 : 1;  // T06 is of first order in a
  for (double a = 1e-8; a < 1.001 * last; a *= std::pow(10., 0.125)) {
    const double bound = this->bound(a);
    EXPECT_LT(this->worst(a, 40), bound) << "a = " << a;
    EXPECT_LT(this->worst(a, 1e5), bound) << "a = " << a << ", far wing";
    EXPECT_GT(this->worst(a, 40, 1.03), bound) << "a = " << a << ": an error of 3 % is not detected";
  }
#else
  GTEST_SKIP() << "*** libcerf is not installed (Debian: libcerf-dev): THE VOIGT SCHEMES ARE NOT TESTED ***";
#endif
}

TYPED_TEST(VoigtSchemes, AreEvenPositiveAndTheSameInEveryLane) {
  using Real = typename TestFixture::Real;
  using V = typename TestFixture::V;
  using Scheme = typename TestFixture::Scheme;
  for (const double a : {1e-8, 4.7e-4, 0.03, 0.1, 1.}) {
    const auto x = frequencies(a, 1e5);
    for (std::size_t i = 0; i + this->lanes <= x.size(); ++i) {
      std::array<Real, TestFixture::lanes> part;  // lanes on both sides of a cut
      for (std::size_t l = 0; l < this->lanes; ++l) part[l] = Real(x[(i + l * 37) % x.size()]);
      const V several = load<V>(part.data());
      const auto right = Scheme::eval(V(Real(a)), several), left = Scheme::eval(V(Real(a)), -several);
      for (std::size_t l = 0; l < this->lanes; ++l) {
        const auto scalar = Scheme::eval(Real(a), part[l]);
        const Real H = this->lane(right.H, l);
        ASSERT_EQ(to_bits(H), to_bits(scalar.H)) << a << ", " << part[l];
        ASSERT_EQ(to_bits(this->lane(right.gaussian, l)), to_bits(VoigtS15::eval(Real(a), part[l]).gaussian));
        ASSERT_EQ(H, this->lane(left.H, l)) << a << ", " << part[l];
        ASSERT_GT(H, Real(0)) << a << ", " << part[l];
        ASSERT_TRUE(std::isfinite(H)) << a << ", " << part[l];
      }
    }
  }
}

// Large a, where the products of the polynomials are largest in single precision.
TYPED_TEST(VoigtSchemes, HoldForLargeA) {
#ifdef THOR_HAVE_CERF
  if constexpr (!std::is_same_v<typename TestFixture::Scheme, VoigtT06>) {
    for (const double a : {2., 5., 10., 14.9, 15.1, 100.}) EXPECT_LT(this->worst(a, 1e5), 3e-4) << a;
  }
#endif
}

/// What steps take in the place of H, for rays that it hides, is never more, and nearly all where a ray may be seen.
TEST(VoigtAtLeast, IsALittleLessThanTheProfile) {
  for (double a = 1e-6; a < 0.3; a *= 1.7) {
    double most = 0, least = 1;
    for (const double x : frequencies(a, 1e4)) {
      const double share = voigt_at_least(a, x) / VoigtH82::eval(a, x).H;
      most = std::max(most, share);
      if (x < 1 || x > 5) least = std::min(least, share);
    }
    EXPECT_LE(most, 1) << "a = " << a;
    EXPECT_GT(most, 0.99) << "a = " << a << ": one that is larger by a hundredth would be found out";
    EXPECT_GT(least, 0.65) << "a = " << a;
  }
}

}  // namespace
}  // namespace thor
