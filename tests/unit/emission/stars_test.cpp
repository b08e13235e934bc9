#include "thor/emission/stars.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/emission/recombination.hpp"

namespace thor::emission {
namespace {

constexpr double megayear = 1e6 * year;

/// log10 of the photons/s after this long at a constant 1 M_sun/yr.
double constant_formation(double metallicity, double duration, double factor = 1) {
  const int steps = 100000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    sum += ionizing_rate(solar_mass, (i + 0.5) / steps * duration, metallicity) * duration / year / steps;
  }
  return std::log10(factor * sum);
}

TEST(Stars, IsTheTableAtItsEntries) {
  const double mass = 1e6 * solar_mass;
  EXPECT_NEAR(std::log10(ionizing_rate(mass, megayear, 0.020)), 52.82161, 1e-6);
  EXPECT_NEAR(std::log10(ionizing_rate(mass, std::pow(10, 6.5) * year, 0.020)), 52.32621, 1e-6);
  EXPECT_NEAR(std::log10(ionizing_rate(mass, 10 * megayear, 0.002)), 51.49115, 1e-6);
  EXPECT_NEAR(std::log10(ionizing_rate(mass, std::pow(10, 7.999999) * year, 0.002)), 49.35640, 1e-4);
  // Half-way in both logarithms.
  EXPECT_NEAR(std::log10(ionizing_rate(mass, std::pow(10, 6.05) * year, std::sqrt(0.002 * 0.020))),
              (52.89985 + 52.96633 + 52.82161 + 52.73535) / 4, 1e-6);
}

TEST(Stars, BeyondTheTable) {
  const double q = ionizing_rate(solar_mass, megayear, 0.01);
  EXPECT_EQ(ionizing_rate(solar_mass, 0, 0.01), q);
  EXPECT_EQ(ionizing_rate(solar_mass, -1e-3 * megayear, 0.01), q);  // born in the snapshot, to rounding
  EXPECT_EQ(ionizing_rate(solar_mass, 1e8 * year, 0.01), 0);
  EXPECT_EQ(ionizing_rate(solar_mass, 1e10 * year, 0.01), 0);
  EXPECT_EQ(ionizing_rate(solar_mass, megayear, 0), ionizing_rate(solar_mass, megayear, 0.002));
  EXPECT_EQ(ionizing_rate(solar_mass, megayear, 0.05), ionizing_rate(solar_mass, megayear, 0.02));
  EXPECT_NEAR(ionizing_rate(3 * solar_mass, megayear, 0.01) / q, 3, 1e-12);
  EXPECT_TRUE(std::isnan(ionizing_rate(std::nan(""), megayear, 0.01)));
  EXPECT_TRUE(std::isnan(ionizing_rate(solar_mass, std::nan(""), 0.01)));
  EXPECT_TRUE(std::isnan(ionizing_rate(solar_mass, -megayear, 0.01))) << "born after the snapshot";
}

// Photons/s per M_sun/yr of constant star formation: 10^(53.3 +- 0.2) (Topping & Shull 2015, ApJ 800, 97; rotating
// stars, several IMFs and metallicities); 10^53.14 (Murphy et al. 2011, ApJ 737, 67: Kroupa IMF to 100 M_sun,
// Starburst99, solar), which has neither binaries nor stars above 100 M_sun.
TEST(Stars, ConstantFormationAsPublished) {
  const double solar = constant_formation(0.020, 100 * megayear);
  EXPECT_NEAR(solar, 53.3, 0.2);
  EXPECT_NEAR(solar, std::log10(1 / 7.29e-54), 0.2);
  EXPECT_NEAR(solar, 53.287, 2e-3);
  EXPECT_GT(constant_formation(0.002, 100 * megayear), solar + 0.2);  // metal-poor stars are hotter
  // A population per 1e6 M_sun mistaken for one per 1e5.5 M_sun would fail.
  EXPECT_GT(std::abs(constant_formation(0.020, 100 * megayear, std::sqrt(10)) - 53.3), 0.2);
}

// The second half of the 1e8 years gives 0.4 % of the photons, so the omitted rest is small.
TEST(Stars, WhatIsLeftOutIsLittle) {
  EXPECT_LT(constant_formation(0.020, 100 * megayear) - constant_formation(0.020, 50 * megayear), 0.005);
  EXPECT_GT(constant_formation(0.020, 100 * megayear) - constant_formation(0.020, 5 * megayear), 0.02);
  EXPECT_LT(ionizing_rate(solar_mass, 99.9 * megayear, 0.02) / ionizing_rate(solar_mass, 0, 0.02), 1e-3);
}

// Starburst99 (Leitherer et al. 2014), Geneva tracks of Z = 0.014 without rotation, Kroupa IMF to 100 M_sun: log Q of
// 1e6 M_sun at 1, 2, 3, 4, 5 Myr. Single stars fade sooner: at 10 Myr they are ten times fainter than binaries.
TEST(Stars, YoungPopulationsAsStarburst99) {
  const double single[] = {52.611, 52.586, 52.359, 52.073, 51.671};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(std::log10(ionizing_rate(1e6 * solar_mass, (i + 1) * megayear, 0.014)), single[i], 0.3) << i + 1;
  }
  EXPECT_NEAR(std::log10(ionizing_rate(1e6 * solar_mass, 10 * megayear, 0.014)) - 49.949, 1, 0.2);
}

TEST(Stars, Lya) {
  EXPECT_NEAR(lya_of_ionizing_rate(1e53) / (0.68 * 1.634e-11 * 1e53), 1, 1e-4);
  EXPECT_EQ(lya_of_sfr(7.1, 0.5), 3.55e42);
  // The two agree to a factor of order one, f_eff of the paper.
  const double stars = lya_of_ionizing_rate(std::pow(10, constant_formation(0.020, 100 * megayear)));
  EXPECT_GT(stars / lya_of_sfr(1, 1), 1);
  EXPECT_LT(stars / lya_of_sfr(1, 1), 3);
}

}  // namespace
}  // namespace thor::emission
