// Angles against their pdfs: the isotropic-dipole mixture of a line, Henyey-Greenstein of dust, cones of sources.
#include "thor/distributions/phase_function.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/distributions/cone.hpp"
#include "thor/distributions/henyey_greenstein.hpp"
#include "thor/random/xoshiro.hpp"

namespace {

using std::vector;
using test::stream;
using thor::NativePack, thor::RealOf, thor::Value;

struct Angles {
  vector<double> mu, sine;
};

template <class V>
void append(Angles& angles, const thor::Deflection<V>& turn) {
  RealOf<V> mu[Value<V>::lanes], sine[Value<V>::lanes];
  thor::store(turn.mu, mu), thor::store(turn.sine, sine);
  for (int lane = 0; lane < Value<V>::lanes; ++lane)
    angles.mu.push_back(double(mu[lane])), angles.sine.push_back(double(sine[lane]));
}

/// mu in [-1, 1] and sine = sqrt(1 - mu^2) to rounding.
template <class V>
void expect_angles(const Angles& angles) {
  const double rounding = 4 * std::numeric_limits<RealOf<V>>::epsilon();
  for (std::size_t i = 0; i < angles.mu.size(); ++i) {
    const double mu = angles.mu[i], sine = angles.sine[i];
    ASSERT_TRUE(std::abs(mu) <= 1 && sine >= 0 && sine <= 1 + rounding) << mu << " " << sine;
    ASSERT_NEAR(sine * sine + mu * mu, 1, rounding) << mu << " " << sine;
  }
}

constexpr std::uint32_t extremes[] = {0, 1, 2, 0xff, 0x100, 0x7fffffff, 0x80000000, 0xffffff00, 0xfffffffe, 0xffffffff};
constexpr int size = 400'000;

template <class V>
class PhaseFunctionTest : public testing::Test {
 protected:
  using Real = RealOf<V>;
  using Word = thor::WordOf<V>;

  static Angles mixture(double quarter_E, std::uint64_t seed) {
    auto random = stream<V>(seed);
    Angles angles;
    while (int(angles.mu.size()) < size) {
      const auto first = random.next(), second = random.next();
      append(angles, thor::sample_dipole_mixture(thor::dipole_mixture<V>(quarter_E), {first, second}));
    }
    return angles;
  }
  static double mixture_p(const Angles& angles, double quarter_E) {
    return test::chi_square_test(
        angles.mu, [&](double mu) { return thor::dipole_mixture_pdf(quarter_E, mu); }, -1, 1.0000001, 100);
  }

  static Angles dust(double g, std::uint64_t seed) {
    auto random = stream<V>(seed);
    Angles angles;
    while (int(angles.mu.size()) < size) append(angles, thor::sample_henyey_greenstein(V(Real(g)), random.next()));
    return angles;
  }
  /// The integral of Henyey-Greenstein over the angles behind this one, free of cancellation: with w = 1 - mu and
  /// D^2 = (1-g)^2 + 2 g w it is (1 - g)(2 - w)/(D (1 + g + D)). Near 1 a single-precision mu has lost w, but the sine
  /// has not.
  static double dust_cdf(double g, double mu, double sine) {
    if (g < 0) g = -g, mu = -mu;
    const double w = mu > 0 ? sine * sine / (1 + mu) : 1 - mu;
    const double d = std::sqrt((1 - g) * (1 - g) + 2 * g * w);
    return (1 - g) * (2 - w) / (d * (1 + g + d));
  }
  /// Uniformity of the cdf, in 100 equal bins and in 100 that get finer towards both ends.
  static std::array<double, 2> dust_p(const Angles& angles, double g) {
    vector<double> cdf, stretched;
    const double rg = double(Real(g));
    for (std::size_t i = 0; i < angles.mu.size(); ++i) {
      cdf.push_back(dust_cdf(rg, angles.mu[i], angles.sine[i]));
      stretched.push_back(std::log((cdf.back() + 1e-12) / (1 - cdf.back() + 1e-12)));
    }
    const auto flat = [](double) { return 1.; };
    const auto logistic = [](double t) { return std::exp(-t) / ((1 + std::exp(-t)) * (1 + std::exp(-t))); };
    const double tail = 1 / (1 + std::exp(9.));
    return {test::chi_square_test(cdf, flat, 0, 1.0000001, 100),
            test::chi_square_test(stretched, logistic, -9, 9, 100, tail, tail)};
  }
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(PhaseFunctionTest, Values);

constexpr double core = 1. / 12, dipole = 1. / 4;

TYPED_TEST(PhaseFunctionTest, MixtureFollowsItsPdfAndNoOther) {
  for (const double quarter_E : {0., core, dipole}) {
    const Angles angles = this->mixture(quarter_E, 51);
    expect_angles<TypeParam>(angles);
    EXPECT_GT(this->mixture_p(angles, quarter_E), 1e-3 / 12) << quarter_E;
    for (const double wrong : {0., core, dipole})
      if (wrong != quarter_E) {
        EXPECT_LT(this->mixture_p(angles, wrong), 1e-6) << quarter_E << " taken for " << wrong;
      }
  }
}

TYPED_TEST(PhaseFunctionTest, MixtureMoments) {
  for (const double quarter_E : {0., core, dipole}) {
    const Angles angles = this->mixture(quarter_E, 52);
    vector<double> powers[4];
    for (const double mu : angles.mu)
      for (int k = 0; k < 4; ++k) powers[k].push_back(std::pow(mu, k + 1));
    const double expected[] = {0, 1. / 3 + quarter_E * 4 / 15, 0, 1. / 5 + quarter_E * 8 / 35};
    for (int k = 0; k < 4; ++k) {
      const auto m = test::moments(powers[k]);
      EXPECT_LT(std::abs(m.mean - expected[k]), 4 * m.error) << quarter_E << ", power " << k + 1;
    }
    const auto second = test::moments(powers[1]);
    EXPECT_GT(std::abs(second.mean - (1. / 3 + (quarter_E + 0.02) * 4 / 15)), 6 * second.error) << "E wrong by 0.08";
  }
}

// Also for first words at the border of the two branches.
TYPED_TEST(PhaseFunctionTest, MixtureForExtremeWords) {
  using V = TypeParam;
  using Word = thor::WordOf<V>;
  for (const double quarter_E : {0., core, dipole}) {
    Angles angles;
    for (const auto first : extremes)
      for (const auto second : extremes)
        append(angles, thor::sample_dipole_mixture(thor::dipole_mixture<V>(quarter_E), {Word(first), Word(second)}));
    const auto edge = std::uint32_t(quarter_E * 0x1p32);
    for (std::uint32_t k = 0; k < 1024; ++k)
      append(angles,
             thor::sample_dipole_mixture(thor::dipole_mixture<V>(quarter_E), {Word(edge + k - 512), Word(k << 22)}));
    expect_angles<V>(angles);
  }
}

/// sin^2(theta/2) of a cone is uniform over its share of the sphere, also where mu has lost it: sine^2/(2 (1 + mu)).
TYPED_TEST(PhaseFunctionTest, ConesAreUniformOverTheirSolidAngle) {
  using V = TypeParam;
  using Real = RealOf<V>;
  for (const double share : {7.6e-7, 0.01, 0.5, 1.}) {
    auto random = stream<V>(71);
    Angles angles;
    while (int(angles.mu.size()) < size) append(angles, thor::sample_cone(V(Real(share)), random.next()));
    expect_angles<V>(angles);
    vector<double> part;
    for (std::size_t i = 0; i < angles.mu.size(); ++i) {
      const double mu = angles.mu[i], sine = angles.sine[i];
      part.push_back((mu > 0 ? sine * sine / (1 + mu) : 1 - mu) / 2 / share);
    }
    const auto flat = [](double) { return 1.; };
    EXPECT_GT(test::chi_square_test(part, flat, 0, 1.00001, 100), 1e-3 / 8) << share;
    for (double& p : part) p *= 0.99;
    EXPECT_LT(test::chi_square_test(part, flat, 0, 1.00001, 100), 1e-6) << "a cone taken for one that is wider by 1 %";
  }
  Angles angles;
  for (const auto word : extremes) append(angles, thor::sample_cone(V(Real(0.3)), thor::WordOf<V>(word)));
  expect_angles<V>(angles);
}

constexpr double asymmetries[] = {0, 1e-6, 0.3, 0.73, 0.99, 0.999, -0.5, -0.999};

TYPED_TEST(PhaseFunctionTest, DustFollowsItsPdfAndNoOther) {
  for (const double g : asymmetries) {
    const Angles angles = this->dust(g, 61);
    expect_angles<TypeParam>(angles);
    for (const double p : this->dust_p(angles, g)) EXPECT_GT(p, 1e-3 / 64) << g;
    const double off = 0.05 * (1 - std::abs(g)) + (std::abs(g) < 0.01 ? -0.03 : 0);
    for (const double wrong : {g + off, g - off, -g})
      if (std::abs(wrong - g) > 1e-5) {
        EXPECT_LT(this->dust_p(angles, wrong)[0], 1e-6) << g << " taken for " << wrong;
      }
  }
}

TYPED_TEST(PhaseFunctionTest, DustMeanIsG) {
  for (const double g : asymmetries) {
    const auto mean = test::moments(this->dust(g, 62).mu);
    EXPECT_LT(std::abs(mean.mean - g), 4 * mean.error) << g;
    const double wrong = 0.97 * g + 0.02 * (1 - g);
    EXPECT_GT(std::abs(mean.mean - wrong), 6 * mean.error) << g << " taken for " << wrong;
  }
}

TYPED_TEST(PhaseFunctionTest, DustForExtremeWords) {
  using V = TypeParam;
  using Real = RealOf<V>;
  using Word = thor::WordOf<V>;
  vector<double> all(std::begin(asymmetries), std::end(asymmetries));
  for (const double g : {0.99999, 0.9999999, -0.9999999, 1e-30, -1e-30, -1e-6}) all.push_back(g);
  for (const double g : all) {
    Angles angles;
    for (const auto word : extremes) append(angles, thor::sample_henyey_greenstein(V(Real(g)), Word(word)));
    auto random = stream<V>(63);
    for (int i = 0; i < 20'000; ++i) append(angles, thor::sample_henyey_greenstein(V(Real(g)), random.next()));
    expect_angles<V>(angles);
    // The lowest word is straight back (forwards for g < 0).
    EXPECT_NEAR(angles.mu[0], g < 0 ? 1 : -1, 1e-6) << g;
  }
}

}  // namespace
