#include "thor/line/line.hpp"

#include <gtest/gtest.h>

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

/// Points of x in order, denser in the core, with both sides of the scheme's cuts at x^2 = 3 and 25.
std::vector<double> frequencies(double end) {
  std::vector<double> x{1.7320507, 1.7320509, 4.9999995, 5, 5.0000005};
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
  static VoigtProfile<Real> eval(Real a, Real x, std::size_t l = 0) {
    const auto r = Voigt::eval(V(a), V(x));
    return {lane(r.gaussian, l), lane(r.H, l)};
  }
#ifdef THOR_HAVE_CERF
  /// The largest relative error of H for |x| < end; a and x as Real holds them.
  static double worst(double a, double end) {
    double largest = 0;
    for (const double t : frequencies(end)) {
      const Real x = Real(t), width = Real(a);
      const double error = std::abs(double(eval(width, x).H) / re_w_of_z(double(x), double(width)) - 1);
      if (!(error <= largest)) largest = error;
    }
    return largest;
  }
#endif
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Profile, ValueTypes);

TYPED_TEST(Profile, VoigtAgreesWithLibcerf) {
#ifdef THOR_HAVE_CERF
  for (double a = 1e-6; a < 1.001e-2; a *= std::pow(10., 0.125)) {
    // Beyond x = 5 the scheme drops e^{-x^2}: below a = 6e-6 that is what counts.
    const double bound = a < 6.2e-6 ? 6.2e-10 / a : a < 3.001e-3 ? 1e-4 : 8e-4;
    EXPECT_LT(this->worst(a, 40), bound) << "a = " << a;
    EXPECT_LT(this->worst(a, 1e4), bound) << "a = " << a << ", far wing";
  }
  EXPECT_GT(this->worst(1.01 * 0.1, 40), 1e-3);  // the test can tell: the scheme is of first order in a
#else
  GTEST_SKIP() << "*** libcerf is not installed (Debian: libcerf-dev): THE VOIGT PROFILE IS NOT TESTED ***";
#endif
}

TYPED_TEST(Profile, VoigtIsEvenAndCarriesItsGaussian) {
  using Real = typename TestFixture::Real;
  const double rounding = this->single ? 1.3e-7 : 2.5e-16;
  for (const double t : frequencies(1e4))
    for (const Real a : {Real(1e-6), Real(4.7e-4), Real(1e-2)}) {
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
    const auto packs = Voigt::eval(TypeParam(a), several);
    const auto cut = core_wing_b25(several), fast = core_wing_b25_fast(several);
    for (std::size_t l = 0; l < this->lanes; ++l) {
      const auto scalar = Voigt::eval(a, part[l]);
      ASSERT_EQ(to_bits(this->lane(packs.H, l)), to_bits(scalar.H)) << part[l];
      ASSERT_EQ(to_bits(this->lane(packs.gaussian, l)), to_bits(scalar.gaussian)) << part[l];
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
  const Line lya = find_line("Lya");
  double twin = 0;
  for (double temperature = 1; temperature < 1.01e7; temperature *= 1.02) {
    const double a = lya.voigt_parameter(lya.thermal_speed(temperature, 0)), root = core_wing_root(a);
    EXPECT_NEAR(this->lane(core_wing_b25(TypeParam(Real(a))), 0) / root, 1, 6e-3) << temperature << " K";
    EXPECT_NEAR(this->lane(core_wing_b25_fast(TypeParam(Real(a))), 0) / root, 1, 6e-3) << temperature << " K";
    twin = std::max(twin, std::abs(this->lane(core_wing_b25(TypeParam(Real(1.2 * a))), 0) / root - 1));
  }
  EXPECT_GT(twin, 6e-3);  // a wrong by a fifth is seen
}

// ---- atomic data ---------------------------------------------------------------------------------------------------

TEST(Line, EinsteinAFollowsFromTheOscillatorStrength) {
  using namespace constants;
  const Line lya = find_line("Lya");
  const double A = 8 * pi * pi * e * e / (m_e * c * lya.wavelength * lya.wavelength) / 3 * lya.oscillator_strength;
  EXPECT_NEAR(lya.einstein_A / A, 1, 1e-3);
}

TEST(Line, LyaAtTenThousandKelvin) {
  const Line lya = find_line("Lya");
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
  const Line lya = find_line("Lya");
  const double speed = lya.thermal_speed(1e4, 0);
  EXPECT_NEAR(lya.thermal_speed(4e4, 0) / speed, 2, 1e-12);
  EXPECT_NEAR(lya.voigt_parameter(2 * speed) / lya.voigt_parameter(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.cross_section(2 * speed) / lya.cross_section(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.recoil(2 * speed) / lya.recoil(speed), 0.5, 1e-12);
  EXPECT_NEAR(lya.thermal_speed(1e4, 20e5), std::hypot(speed, 20e5), 1e-6);  // turbulence adds in quadrature
  EXPECT_NEAR(lya.thermal_speed(0, 20e5), 20e5, 1e-6);
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
