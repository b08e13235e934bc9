#include "thor/mock/galaxy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/statistics.hpp"
#include "thor/mock/galaxy_model.hpp"
#include "thor/mock/gas_state.hpp"

namespace thor::mock {
namespace mock_galaxy_test {

GalaxyOptions small() {
  GalaxyOptions options;
  options.gas_particles = 20000;
  options.stars = 10000;
  options.seed = 5;
  return options;
}

const Snapshot& galaxy() {
  static const Snapshot snapshot = make_galaxy(small());
  return snapshot;
}

/// Position and velocity relative to the galaxy's centre.
Vector centred(const Vector& p) {
  const double half = 0.5 * galaxy().box;
  return {p[0] - half, p[1] - half, p[2] - half};
}

std::vector<double> numbers(const Snapshot& snapshot) {
  std::vector<double> all;
  for (const GasElement& g : snapshot.gas) {
    all.insert(all.end(), g.position.begin(), g.position.end());
    all.insert(all.end(), g.velocity.begin(), g.velocity.end());
    for (const double x : {g.mass, g.density, g.temperature, g.neutral, g.metallicity, g.sfr}) all.push_back(x);
  }
  for (const Star& s : snapshot.stars) {
    all.insert(all.end(), s.position.begin(), s.position.end());
    for (const double x : {s.initial_mass, s.age, s.metallicity}) all.push_back(x);
  }
  return all;
}

TEST(MockGalaxy, IsAFunctionOfItsSeed) {
  const auto first = numbers(galaxy());
  EXPECT_EQ(first, numbers(make_galaxy(small(), 3)));
  GalaxyOptions other = small();
  other.seed = 6;
  const auto second = numbers(make_galaxy(other));
  ASSERT_EQ(first.size(), second.size());
  int same = 0;
  for (std::size_t i = 0; i < 60; i += 12) same += first[i] == second[i];
  EXPECT_EQ(same, 0);
}

TEST(MockGalaxy, HasTheMassesThatWereAskedFor) {
  std::map<Component, double> mass;
  for (const GasElement& g : galaxy().gas) mass[g.component] += g.mass / solar_mass;
  double stars = 0;
  for (const Star& s : galaxy().stars) stars += s.initial_mass / solar_mass;
  EXPECT_NEAR((mass[Component::disc] + mass[Component::clump]) / 3e9, 1, 1e-9);
  EXPECT_NEAR((mass[Component::outflow] + mass[Component::outflow_cloud]) / 3e8, 1, 1e-9);
  EXPECT_NEAR((mass[Component::halo] + mass[Component::halo_cloud]) / 3e9, 1, 1e-9);
  EXPECT_NEAR(stars / 2e9, 1, 1e-9);
  EXPECT_EQ(galaxy().gas.size(), 20000u);
  EXPECT_EQ(galaxy().stars.size(), 10000u);
}

TEST(MockGalaxy, FormsStarsAtTheRateOfItsYoungestStars) {
  double sfr = 0, young = 0;
  int count = 0;
  for (const GasElement& g : galaxy().gas) sfr += g.sfr;
  const double span = 20e6;
  for (const Star& s : galaxy().stars) {
    if (s.age < span * year) young += s.initial_mass / solar_mass / span, ++count;
    EXPECT_GT(s.age, 0);
    EXPECT_LT(s.age, galaxy().cosmology.age(2));
  }
  EXPECT_GT(sfr, 5);
  EXPECT_LT(sfr, 20);
  const double error = young / std::sqrt(double(count));
  EXPECT_NEAR(young, sfr, 4 * error + 0.06 * sfr);  // the rate has risen by some per cent within 20 Myr
  EXPECT_GT(std::abs(young - 1.5 * sfr), 4 * error + 0.06 * sfr);
}

TEST(MockGalaxy, ItsDiscIsExponentialWithTheScaleAskedFor) {
  std::vector<double> radii, heights;
  for (const GasElement& g : galaxy().gas) {
    if (g.component != Component::disc) continue;
    const Vector p = centred(g.position);
    radii.push_back(std::hypot(p[0], p[1]) / kpc);
    heights.push_back(p[2] / kpc);
  }
  const auto p_value = [&](double scale) {
    const auto cdf = [&](double r) { return 1 - (1 + r / scale) * std::exp(-r / scale); };
    return test::ks_p(test::ks_distance(radii, [&](double r) { return cdf(r) / cdf(12); }), double(radii.size()));
  };
  EXPECT_GT(p_value(2), 1e-3);
  EXPECT_LT(p_value(1.8), 1e-3);
  EXPECT_LT(p_value(2.2), 1e-3);
  const auto of_heights = [&](double scale) {
    const auto cdf = [&](double z) { return 0.5 * (1 + std::tanh(z / scale)); };
    return test::ks_p(test::ks_distance(heights, cdf), double(heights.size()));
  };
  EXPECT_GT(of_heights(0.3), 1e-3);
  EXPECT_LT(of_heights(0.33), 1e-3);
}

TEST(MockGalaxy, SpinsAboutZOnAFlatRotationCurve) {
  const GalaxyModel model(small());
  Vector spin{};
  std::vector<double> ratios;
  for (const GasElement& g : galaxy().gas) {
    if (g.component != Component::disc && g.component != Component::clump) continue;
    const Vector p = centred(g.position), &v = g.velocity;
    const Vector l{p[1] * v[2] - p[2] * v[1], p[2] * v[0] - p[0] * v[2], p[0] * v[1] - p[1] * v[0]};
    for (int d = 0; d < 3; ++d) spin[d] += g.mass * l[d];
    const double radius = std::hypot(p[0], p[1]);
    if (g.component == Component::disc && radius > model.disc_scale) ratios.push_back(l[2] / radius / model.flat_speed);
  }
  EXPECT_GT(spin[2], 0);
  EXPECT_LT(std::hypot(spin[0], spin[1]) / spin[2], 0.02);
  const auto speed = test::moments(ratios);
  EXPECT_NEAR(speed.mean, 1, 0.01) << "v/v_flat beyond a scale length; 0.97 at it";
  EXPECT_LT(speed.error, 0.005);
  // M v 2 R_d, except for the core of the rotation curve and the edge of the disc
  EXPECT_NEAR(spin[2] / (3e9 * solar_mass * model.flat_speed * 2 * model.disc_scale), 1, 0.15);
}

TEST(MockGalaxy, ItsElementsFillTheBox) {
  double volume = 0, in_shell = 0, mass = 0;
  const GalaxyModel model(small());
  const double inner = model.virial_radius, outer = 1.4 * model.virial_radius;
  for (const GasElement& g : galaxy().gas) {
    volume += g.mass / g.density;
    const Vector p = centred(g.position);
    const double r = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    if (r < inner || r > outer) continue;
    in_shell += g.mass / g.density, mass += g.mass;
  }
  EXPECT_NEAR(volume / std::pow(galaxy().box, 3), 1, 0.15);
  EXPECT_NEAR(in_shell / (4 * constants::pi / 3 * (std::pow(outer, 3) - std::pow(inner, 3))), 1, 0.2);
  EXPECT_GT(mass, 0);
}

TEST(MockGalaxy, TheHaloIsInHydrostaticEquilibrium) {
  const GalaxyModel model(small());
  const double mu = molecular_weight(electron_abundance(0, 1e6)) * proton_mass;
  const auto pressure = [&](double r) {
    return model.halo_profile(r) * model.halo_temperature(r) * constants::k_B / mu;
  };
  for (const double share : {0.05, 0.2, 0.5, 1., 1.3}) {
    const double r = share * model.virial_radius, d = 0.02 * r, speed = model.rotation(r);
    const double gradient = (pressure(r + d) - pressure(r - d)) / (2 * d);
    EXPECT_NEAR(-gradient * r / (model.halo_profile(r) * speed * speed), 1, 0.02) << share;
  }
}

TEST(MockGalaxy, TheOutflowIsABiconeWithAConstantFlux) {
  const GalaxyModel model(small());
  double inner = 0, outer = 0;
  int up = 0, all = 0;
  const double middle = 0.5 * (model.cone_start + model.cone_end);
  for (const GasElement& g : galaxy().gas) {
    if (g.component != Component::outflow) continue;
    const Vector p = centred(g.position);
    const double r = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    EXPECT_TRUE(model.in_cone(p));
    const double out = (p[0] * g.velocity[0] + p[1] * g.velocity[1] + p[2] * g.velocity[2]) / r;
    (r < middle ? inner : outer) += g.mass * out;
    up += p[2] > 0, ++all;
    EXPECT_GT(g.temperature, 5e5);
  }
  EXPECT_NEAR(inner / outer, 1, 0.1);
  EXPECT_NEAR(double(up) / all, 0.5, 0.05);
  EXPECT_NEAR(model.outflow(model.cone_end) / constants::km, 300, 30);
}

TEST(MockGalaxy, YoungStarsAreInTheClumps) {
  const GalaxyModel model(small());
  const auto clumps = disc_clumps(model, small().seed);
  double young = 0, old = 0;
  int count = 0;
  const auto near_clump = [&](const Vector& p) {
    return std::ranges::any_of(clumps, [&](const Clump& c) {
      return std::hypot(p[0] - c.centre[0], p[1] - c.centre[1], p[2] - c.centre[2]) < 3 * c.sigma;
    });
  };
  for (const Star& s : galaxy().stars) {
    if (s.age < 30e6 * year)
      young += near_clump(centred(s.position)), ++count;
    else
      old += near_clump(centred(s.position));
  }
  EXPECT_GT(young / count, 0.9);
  EXPECT_LT(old / double(galaxy().stars.size() - std::size_t(count)), 0.5);
}

}  // namespace mock_galaxy_test
}  // namespace thor::mock
