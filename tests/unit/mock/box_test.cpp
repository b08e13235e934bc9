#include "thor/mock/box.hpp"

#include <gtest/gtest.h>

#include "thor/mock/gas_state.hpp"
#include "thor/mock/power_spectrum.hpp"

namespace thor::mock {
namespace {

BoxOptions small() {
  BoxOptions options;
  options.particles_per_side = 32;
  options.seed = 5;
  return options;
}

const Snapshot& box() {
  static const Snapshot snapshot = make_box(small());
  return snapshot;
}

TEST(MockBox, IsAFunctionOfItsSeed) {
  const auto numbers = [](const Snapshot& snapshot) {
    std::vector<double> all;
    for (const GasElement& g : snapshot.gas) {
      all.insert(all.end(), g.position.begin(), g.position.end());
      for (const double x : {g.velocity[0], g.mass, g.density, g.temperature, g.neutral, g.sfr}) all.push_back(x);
    }
    for (const Star& s : snapshot.stars) {
      all.insert(all.end(), s.position.begin(), s.position.end());
      all.push_back(s.age);
    }
    return all;
  };
  const auto first = numbers(box());
  EXPECT_EQ(first, numbers(make_box(small(), 3)));
  BoxOptions other = small();
  other.seed = 6;
  const auto second = numbers(make_box(other));
  int same = 0;
  for (std::size_t i = 0; i < 900; i += 9) same += first[i] == second[i];
  EXPECT_EQ(same, 0);
}

TEST(MockBox, HasTheMeanDensityOfBaryons) {
  double mass = 0, volume = 0;
  for (const GasElement& g : box().gas) {
    mass += g.mass, volume += g.mass / g.density;
    for (const double x : g.position) EXPECT_TRUE(x >= 0 && x < box().box);
  }
  EXPECT_EQ(box().gas.size(), 32u * 32 * 32);
  for (const Star& s : box().stars) mass += s.initial_mass * mass_left(s.age);
  // Omega_b rho_crit,0 (1 + z)^3 with rho_crit,0 = 1.878e-29 h^2 g/cm^3
  const double expected = 0.0486 * 1.87834e-29 * 0.6774 * 0.6774 * 64;
  EXPECT_NEAR(mass / std::pow(box().box, 3) / expected, 1, 1e-3);
  EXPECT_NEAR(box().box / (25e3 * kpc / 4), 1, 1e-12);
  EXPECT_NEAR(volume / std::pow(box().box, 3), 1, 0.2);
}

/// Initial position of an element of the gas between galaxies, from its number [cm].
Vector origin(const GasElement& g) {
  const std::uint64_t i = g.id - 1;
  const double cell = box().box / 32;
  return {(double(i / 1024) + 0.5) * cell, (double(i / 32 % 32) + 0.5) * cell, (double(i % 32) + 0.5) * cell};
}

TEST(MockBox, VelocitiesAreThoseOfTheDisplacements) {
  // v = H f psi (psi physical); f = 0.98 at z = 3
  const double hubble = box().cosmology.hubble(3), rate = std::pow(0.3089 * 64 / (0.3089 * 64 + 0.6911), 0.55);
  int count = 0;
  for (const GasElement& g : box().gas) {
    if (g.component != Component::igm) continue;
    ++count;
    const Vector from = origin(g);
    for (int d = 0; d < 3; ++d) {
      double moved = g.position[d] - from[d];
      moved -= box().box * std::round(moved / box().box);
      ASSERT_NEAR(g.velocity[d], hubble * rate * moved, 1e-3 * constants::km);
    }
  }
  EXPECT_GT(count, 30000);
}

TEST(MockBox, TemperatureAndNeutralFractionFollowTheDensity) {
  const double mean = 0.0486 * 1.87834e-29 * 0.6774 * 0.6774 * 64;
  for (const GasElement& g : box().gas) {
    if (g.component != Component::igm) continue;
    ASSERT_NEAR(g.temperature / (1e4 * std::sqrt(std::min(g.density / mean, 100.))), 1, 1e-3);
    ASSERT_NEAR(g.neutral / neutral_fraction(hydrogen_density(g.density), g.temperature, 1.06e-12), 1, 1e-3);
  }
}

TEST(MockBox, FormsStarsAsTheUniverseDoes) {
  EXPECT_NEAR(sfr_density(2), 0.13, 0.01);
  EXPECT_NEAR(sfr_density(0), 0.015, 0.001);
  double sfr = 0, young = 0;
  for (const GasElement& g : box().gas) {
    sfr += g.sfr;
    if (g.sfr > 0) {
      EXPECT_EQ(g.component, Component::galaxy);
      EXPECT_GT(hydrogen_density(g.density), 0.01);
    }
  }
  for (const Star& s : box().stars) {
    if (s.age < 10e6 * year) young += s.initial_mass / solar_mass / 10e6;
  }
  EXPECT_NEAR(sfr / std::pow(25., 3), 0.09, 0.005);
  EXPECT_NEAR(young / sfr, 1, 1e-6);
}

TEST(MockBox, GalaxiesAreWhereTheGasIsDense) {
  // Mean density of the gas between them, around galaxies and everywhere.
  double everywhere = 0, near = 0;
  int all = 0, beside = 0;
  for (const GasElement& g : box().gas) {
    if (g.component == Component::igm) everywhere += g.density, ++all;
  }
  for (std::size_t i = 0; i < box().stars.size(); i += 13) {
    for (const GasElement& g : box().gas) {
      if (g.component != Component::igm) continue;
      double square = 0;
      for (int d = 0; d < 3; ++d) {
        const double gap = std::abs(g.position[d] - box().stars[i].position[d]);
        square += std::pow(std::min(gap, box().box - gap), 2);
      }
      if (square < std::pow(box().box / 32, 2)) near += g.density, ++beside;
    }
  }
  ASSERT_GT(beside, 100);
  EXPECT_GT(near / beside, 1.3 * everywhere / all);
}

}  // namespace
}  // namespace thor::mock
