#include "thor/line/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/line/core_wing.hpp"
#include "thor/line/voigt.hpp"
#ifdef THOR_HAVE_CERF
#include <cerf.h>
#endif

namespace thor {
namespace {

/// Points of x in order, denser in the core, with both sides of the schemes' cuts: at x^2 = 3 and 25 (S15), at x^2 = 36
/// (thor).
std::vector<double> frequencies(double end) {
  std::vector<double> x{1.7320507, 1.7320509, 4.9999995, 5, 5.0000005, 5.9999995, 6, 6.0000005};
  for (double t = 0; t <= 8; t += 0.0037) x.push_back(t);
  for (double t = 8; t <= end; t *= 1.003) x.push_back(t);
  return x;
}

template <class V>
struct Profile : ::testing::Test {
  using Real = RealOf<V>;
  static constexpr std::size_t lanes = Value<V>::lanes;
  static constexpr bool single = sizeof(Real) == 4;

  static Real lane(V v, std::size_t l) {
    std::array<Real, lanes> r;
    store(v, r.data());
    return r[l];
  }
  template <class Scheme = Voigt>
  static VoigtProfile<Real> eval(Real a, Real x, std::size_t l = 0) {
    const auto r = Scheme::eval(V(a), V(x));
    return {lane(r.gaussian, l), lane(r.H, l)};
  }
#ifdef THOR_HAVE_CERF
  /// Largest relative error of H for |x| < end; a and x are rounded to Real.
  template <class Scheme>
  static double worst(double a, double end) {
    double largest = 0;
    for (const double t : frequencies(end)) {
      const Real x = Real(t), width = Real(a);
      const double error = std::abs(double(eval<Scheme>(width, x).H) / re_w_of_z(double(x), double(width)) - 1);
      if (!(error <= largest)) largest = error;
    }
    return largest;
  }
#endif
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Profile, ValueTypes);

#ifdef THOR_HAVE_CERF
// Bounds from the comment in voigt.hpp; single precision adds its own rounding.
TYPED_TEST(Profile, VoigtAgreesWithLibcerf) {
  const double rounding = this->single ? 4e-6 : 0;
  for (double a = 1e-8; a < 1.001 * Voigt::largest_a; a *= std::pow(10., 0.125)) {
    const double bound = (a < 3.001e-3 ? 2.1e-5 : a < 1.001e-2 ? 3.1e-5 : 8.4e-5) + rounding;
    EXPECT_LT(this->template worst<Voigt>(a, 40), bound) << "a = " << a;
    EXPECT_LT(this->template worst<Voigt>(a, 1e5), bound) << "a = " << a << ", far wing";
  }
  EXPECT_GT(this->template worst<Voigt>(0.1, 40), 1e-3);  // the test detects it: it is of second order in a
}

TYPED_TEST(Profile, VoigtOfFourthOrderAgreesWithLibcerf) {
  const double rounding = this->single ? 4e-6 : 0;
  for (double a = 1e-8; a < 1.001 * VoigtThor::largest_a; a *= std::pow(10., 0.125)) {
    const double bound = (a < 0.03 ? 2.1e-5 : 2.2e-5) + rounding;
    EXPECT_LT(this->template worst<VoigtThor>(a, 40), bound) << "a = " << a;
    EXPECT_LT(this->template worst<VoigtThor>(a, 1e5), bound) << "a = " << a << ", far wing";
  }
  EXPECT_LT(this->template worst<VoigtThor>(0.2, 1e4), 2.2e-4);
  EXPECT_GT(this->template worst<VoigtThor>(0.2, 40), 1e-4);
}

TYPED_TEST(Profile, VoigtS15AgreesWithLibcerf) {
  const auto worst = [](double a, double end) { return TestFixture::template worst<VoigtS15>(a, end); };
  for (double a = 1e-6; a < 1.001e-2; a *= std::pow(10., 0.125)) {
    // Beyond x = 5 the scheme drops e^{-x^2}: below a = 6e-6 this dominates.
    const double bound = a < 6.2e-6 ? 6.2e-10 / a : a < 3.001e-3 ? 1e-4 : 8e-4;
    EXPECT_LT(worst(a, 40), bound) << "a = " << a;
    EXPECT_LT(worst(a, 1e4), bound) << "a = " << a << ", far wing";
  }
  EXPECT_GT(worst(0.1, 40), 1e-3);  // of first order in a
}
#else
TEST(Profile, VoigtAgreesWithLibcerf) {
  GTEST_SKIP() << "*** libcerf is not installed (Debian: libcerf-dev): THE VOIGT PROFILE IS NOT TESTED ***";
}
#endif

// Against differences of the profile; in the wing it is -2/x.
TYPED_TEST(Profile, SlopeIsThatOfTheLogarithm) {
  using Real = typename TestFixture::Real;
  for (const double a : {1e-6, 4.7e-4, 1e-2}) {
    for (double x = 0.02; x < 30; x *= 1.03) {
      const auto at = VoigtTaylor<2>::eval(a, x);
      const double h = 1e-4 * x, above = VoigtTaylor<2>::eval(a, x + h).H, below = VoigtTaylor<2>::eval(a, x - h).H;
      const double expected = std::log(above / below) / (2 * h);
      // Where a profile changes by 5 % over a sub-step, an error of 0.1 in the slope is 5e-3 of it.
      for (const double sign : {1., -1.}) {
        const double slope = double(voigt_slope(Real(a), Real(sign * x), Real(at.gaussian), Real(at.H)));
        EXPECT_NEAR(sign * slope, expected, 0.02 + 0.03 * std::abs(expected)) << "a = " << a << ", x = " << x;
      }
    }
  }
  for (const double x : {1e2, 1e3, 1e5}) {
    const auto at = VoigtTaylor<2>::eval(1e-3, x);
    EXPECT_NEAR(double(voigt_slope(Real(1e-3), Real(x), Real(at.gaussian), Real(at.H))) * x, -2, 1e-2);
  }
  EXPECT_EQ(double(voigt_slope(Real(1e-3), Real(0), Real(1), Real(1))), 0);
}

TYPED_TEST(Profile, VoigtIsEvenAndCarriesItsGaussian) {
  using Real = typename TestFixture::Real;
  const double rounding = this->single ? 1.3e-7 : 2.5e-16;
  for (const double t : frequencies(1e4))
    for (const Real a : {Real(1e-6), Real(4.7e-4), Real(1e-2), Real(2e-2)}) {
      const Real x = Real(t);
      const auto right = this->eval(a, x), left = this->eval(a, -x);
      ASSERT_EQ(right.H, left.H) << x;
      ASSERT_EQ(right.gaussian, left.gaussian) << x;
      ASSERT_GT(right.H, Real(0)) << x;
      if (t < 9) {  // the rounding of x^2 in the exponent, and exp's own
        ASSERT_NEAR(right.gaussian / std::exp(-double(x) * double(x)), 1, rounding * (1.6 + t * t)) << x;
      }
    }
  EXPECT_EQ(this->eval(Real(4.7e-4), Real(0)).gaussian, Real(1));
  EXPECT_NEAR(this->eval(Real(4.7e-4), Real(0)).H, 1 - 2 * 4.7e-4 / std::sqrt(constants::pi), 1e-6);
}

TYPED_TEST(Profile, LanesEqualScalar) {
  using Real = typename TestFixture::Real;
  const auto x = frequencies(1e4);
  for (std::size_t i = 0; i + this->lanes <= x.size(); ++i) {
    std::array<Real, TestFixture::lanes> part;  // lanes on both sides of a cut
    for (std::size_t l = 0; l < this->lanes; ++l) part[l] = Real(x[i + l]);
    const Real a = Real(1e-5 * (1 + i % 100));
    const auto several = load<TypeParam>(part.data());
    const auto packs = Voigt::eval(TypeParam(a), several), by_s15 = VoigtS15::eval(TypeParam(a), several);
    const auto fourth = VoigtThor::eval(TypeParam(a), several);
    const auto cut = core_wing_b25(several), fast = core_wing_b25_fast(several);
    for (std::size_t l = 0; l < this->lanes; ++l) {
      const auto scalar = Voigt::eval(a, part[l]);
      ASSERT_EQ(to_bits(this->lane(packs.H, l)), to_bits(scalar.H)) << part[l];
      ASSERT_EQ(to_bits(this->lane(packs.gaussian, l)), to_bits(scalar.gaussian)) << part[l];
      ASSERT_EQ(to_bits(this->lane(fourth.H, l)), to_bits(VoigtThor::eval(a, part[l]).H)) << part[l];
      ASSERT_EQ(to_bits(this->lane(by_s15.H, l)), to_bits(VoigtS15::eval(a, part[l]).H)) << part[l];
      if (part[l] <= 0) continue;
      ASSERT_EQ(to_bits(this->lane(cut, l)), to_bits(core_wing_b25(part[l]))) << part[l];
      ASSERT_EQ(to_bits(this->lane(fast, l)), to_bits(core_wing_b25_fast(part[l]))) << part[l];
    }
  }
}

/// The larger root of e^{-x^2} = a/(sqrt(pi) x^2), by bisection: x^2 e^{-x^2} falls beyond x = 1.
double core_wing_root(double a) {
  double low = 1, high = 40;
  while (high - low > 1e-14 * high) {
    const double x = (low + high) / 2;
    (x * x * std::exp(-x * x) > a / std::sqrt(constants::pi) ? low : high) = x;
  }
  return low;
}

TYPED_TEST(Profile, CoreWingBoundaryFromOneKelvinToTenMillion) {
  using Real = typename TestFixture::Real;
  const AtomicTransition& lya = find_line("Lya").first();
  double twin = 0;
  for (double temperature = 1; temperature < 1.01e7; temperature *= 1.02) {
    const double a = lya.voigt_parameter(lya.thermal_speed(temperature, 0)), root = core_wing_root(a);
    EXPECT_NEAR(this->lane(core_wing_b25(TypeParam(Real(a))), 0) / root, 1, 6e-3) << temperature << " K";
    EXPECT_NEAR(this->lane(core_wing_b25_fast(TypeParam(Real(a))), 0) / root, 1, 6e-3) << temperature << " K";
    twin = std::max(twin, std::abs(this->lane(core_wing_b25(TypeParam(Real(1.2 * a))), 0) / root - 1));
  }
  EXPECT_GT(twin, 6e-3);  // an error of a fifth in a is detected
}

// ---- atomic data ---------------------------------------------------------------------------------------------------

TEST(Line, LyaAtTenThousandKelvin) {
  const AtomicTransition& lya = find_line("Lya").first();
  EXPECT_EQ(lya.name, "Lya");
  EXPECT_NEAR(lya.wavelength, 1215.67e-8, 1e-11);
  EXPECT_NEAR(lya.frequency(), 2.466e15, 1e12);
  EXPECT_NEAR(lya.photon_energy() / 1.602176634e-12, 10.199, 1e-3);  // eV
  EXPECT_NEAR(lya.mass, 1.6735e-24, 1e-28);
  const double speed = lya.thermal_speed(1e4, 0);
  EXPECT_NEAR(speed / 12.85e5, 1, 1e-3);
  EXPECT_NEAR(lya.voigt_parameter(speed) / 4.70e-4, 1, 5e-3);  // 4.718e-4
  EXPECT_NEAR(lya.cross_section(speed) / 5.9e-14, 1, 5e-3);    // Dijkstra (2014), eq. 55: 5.88e-14
  EXPECT_NEAR(lya.recoil(speed) / 2.54e-4, 1, 5e-3);           // g of Adams (1971)
}

TEST(Line, ScalesWithTheSpeed) {
  const AtomicTransition& lya = find_line("Lya").first();
  const double speed = lya.thermal_speed(1e4, 0);
  EXPECT_NEAR(lya.thermal_speed(4e4, 0) / speed, 2, 1e-12);
  EXPECT_NEAR(lya.voigt_parameter(2 * speed) / lya.voigt_parameter(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.cross_section(2 * speed) / lya.cross_section(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.recoil(2 * speed) / lya.recoil(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.thermal_speed(1e4, 20e5), std::hypot(speed, 20e5), 1e-6);  // turbulence adds in quadrature
  EXPECT_NEAR(lya.thermal_speed(0, 20e5), 20e5, 1e-6);
}

/// The 6j symbol {1 1 2; u u l}, by Racah's formula.
double six_j(double u, double l) {
  const auto factorial = [](double n) { return std::tgamma(n + 1); };
  const auto triangle = [&](double a, double b, double c) {
    return std::sqrt(factorial(a + b - c) * factorial(a - b + c) * factorial(-a + b + c) / factorial(a + b + c + 1));
  };
  if (std::abs(u - l) > 1 || u < 1) return 0;
  double sum = 0;
  for (double t = 0; t < 60; ++t) {
    const double under[] = {t - 4,         t - 1 - u - l, t - 1 - u - l, t - 2 - 2 * u,
                            2 + u + u - t, 3 + u + l - t, 3 + u + l - t};
    if (*std::ranges::min_element(under) < 0) continue;
    double term = (int(t) % 2 ? -1 : 1) * factorial(t + 1);
    for (const double n : under) term /= factorial(n);
    sum += term;
  }
  return triangle(1, 1, 2) * triangle(1, u, l) * triangle(u, 1, l) * triangle(u, u, 2) * sum;
}

// Against w^(2) = (-1)^{1 + J_l + J_u} sqrt(3 (2 J_u + 1)) {1 1 2; J_u J_u J_l} (Landi Degl'Innocenti & Landolfi 2004,
// chapter 10), up to Fe II's J = 11/2; for J_f = J_l against the E_1 of Chandrasekhar (1960), section 19.
TEST(Line, PhaseFunctionsOfAllAngularMomenta) {
  const auto w = [](double u, double l) {
    return (std::lround(1 + l + u) % 2 ? -1 : 1) * std::sqrt(3 * (2 * u + 1)) * six_j(u, l);
  };
  for (double l = 0; l < 7; l += 0.5)
    for (double u = std::abs(l - 1); u <= l + 1; ++u)
      for (double f = std::abs(u - 1); f <= u + 1; ++f) {
        if (u == 0 && (l == 0 || f == 0)) continue;  // 0 -> 0 does not exist
        EXPECT_NEAR(dipole_share(l, u, f), w(u, l) * w(u, f), 1e-12) << l << " -> " << u << " -> " << f;
      }
  for (double j = 0; j < 6; j += 0.5) {
    EXPECT_NEAR(dipole_share(j, j + 1, j), (2 * j + 5) * (j + 2) / (10 * (j + 1) * (2 * j + 1)), 1e-12) << j;
  }
  EXPECT_NEAR(dipole_share(0, 1, 0), 1, 1e-12);           // a classical dipole
  EXPECT_NEAR(dipole_share(0.5, 1.5, 0.5), 0.5, 1e-12);   // the blue line of a doublet
  EXPECT_EQ(dipole_share(0.5, 0.5, 0.5), 0);              // and the red one
  EXPECT_NEAR(dipole_share(0.5, 1.5, 1.5), -0.4, 1e-12);  // Si II 1194 after 1190: more light sideways
  EXPECT_NEAR(find_line("Lya").first().core, 1. / 3, 1e-9);
  EXPECT_EQ(find_line("Lya").first().wing, 1);
}

TEST(Line, UnknownNameIsAUsageError) {
  for (const std::string name : {"", "lya", "Lya ", "Lyb"}) {
    try {
      find_line(name);
      ADD_FAILURE() << "found a line \"" << name << "\"";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("Lya"), std::string::npos) << error.what();  // names what is known
    }
  }
}

}  // namespace
}  // namespace thor
