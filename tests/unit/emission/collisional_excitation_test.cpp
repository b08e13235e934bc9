#include "thor/emission/collisional_excitation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/emission/recombination.hpp"

namespace thor::emission {
namespace {

double boltzmann(double temperature) { return std::exp(-lya_energy / (constants::k_B * temperature)); }

/// Rate coefficient from an effective collision strength: gamma = 8.629e-6 Upsilon exp(-E/kT)/(g sqrt(T)), g = 2 for
/// 1s.
double from_strength(double temperature, double strength) {
  return 8.629e-6 / (2 * std::sqrt(temperature)) * strength * boltzmann(temperature);
}

// The fit itself, evaluated elsewhere from the published coefficients.
TEST(CollisionalExcitation, IsTheFit) {
  const double known[][2] = {{5802, 3.2459e-17}, {1e4, 1.4368e-13}, {2e4, 4.6120e-11}, {58022, 2.1620e-9},
                             {1e6, 2.8128e-8},   {7e6, 2.5652e-8},  {1e8, 8.0012e-9}};
  for (const auto& [t, value] : known) EXPECT_NEAR(gamma_1s2p(t) / value, 1, 2e-4) << t;
}

// Anderson et al. (2002, J. Phys. B 35, 1613): R-matrix with pseudostates, at 0.5, 1, 3, 5, 10, 15, 20, 25 eV.
constexpr double volts[] = {0.5, 1, 3, 5, 10, 15, 20, 25};
constexpr double strengths[] = {0.429, 0.529, 0.853, 1.15, 1.81, 2.35, 2.81, 3.20};

double worst_against_anderson(double factor) {
  double worst = 0;
  for (int i = 0; i < 8; ++i) {
    const double t = volts[i] / 8.617333e-5;
    worst = std::max(worst, std::abs(factor * gamma_1s2p(t) / from_strength(t, strengths[i]) - 1));
  }
  return worst;
}

TEST(CollisionalExcitation, WithinTwentyPercentOfAndersonEtAl) {
  EXPECT_LT(worst_against_anderson(1), 0.2);
  EXPECT_GT(worst_against_anderson(0.95), 0.2);
  EXPECT_GT(worst_against_anderson(1.25), 0.2);
}

// Goerdt et al. (2010, MNRAS 407, 613): 2.41e-6 T^-1/2 (T/1e4)^0.22 exp(-E/kT).
TEST(CollisionalExcitation, WithinTwentyTwoPercentOfGoerdtEtAl) {
  for (double t = 5e3; t < 4e4; t *= 1.1) {
    const double other = 2.41e-6 / std::sqrt(t) * std::pow(t / 1e4, 0.22) * boltzmann(t);
    EXPECT_NEAR(other / gamma_1s2p(t), 1, 0.22) << t;
  }
}

// Cooling by all collisions with hydrogen in the same paper (Scholz & Walters 1991): 1s-2p must be most of it, not
// all.
TEST(CollisionalExcitation, IsMostOfTheCoolingOfHydrogen) {
  for (double t = 8e3; t < 3e4; t *= 1.2) {
    const double y = std::log(t);
    const double all =
        1e-20 * std::exp(2.137913e2 +
                         y * (-1.139492e2 + y * (2.506062e1 + y * (-2.762755 + y * (1.515352e-1 - 3.290382e-3 * y)))) -
                         118348 / t);
    const double share = collisional_emissivity(t, 1, 1) / all;
    EXPECT_GT(share, 0.5) << t;
    EXPECT_LT(share, 0.7) << t;
  }
}

TEST(CollisionalExcitation, JoinsWithinOnePercent) {
  for (const double joint : {6e4, 6e6})
    EXPECT_NEAR(gamma_1s2p(joint * (1 + 1e-9)) / gamma_1s2p(joint), 1, 0.01) << joint;
  for (const double end : {2e3, 1e8}) {
    EXPECT_NEAR(gamma_1s2p(end * (1 - 1e-9)) / gamma_1s2p(end * (1 + 1e-9)), 1, 1e-6) << end;
  }
}

TEST(CollisionalExcitation, IsFiniteEverywhere) {
  for (double t = 1; t < 1e10; t *= 1.5) {
    EXPECT_GE(gamma_1s2p(t), 0) << t;
    EXPECT_LT(gamma_1s2p(t), 3e-8) << t;
  }
  EXPECT_LT(gamma_1s2p(1e3), 1e-50);
  EXPECT_TRUE(std::isnan(gamma_1s2p(0)) && std::isnan(gamma_1s2p(-10)) && std::isnan(gamma_1s2p(std::nan(""))));
  EXPECT_NEAR(collisional_emissivity(2e4, 3, 5), 15 * gamma_1s2p(2e4) * lya_energy, 1e-30);
}

}  // namespace
}  // namespace thor::emission
