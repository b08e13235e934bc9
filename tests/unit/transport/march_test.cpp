// Rays that march through the gas: against the flights of step(), and against what is known.
#include "thor/transport/march.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/grid.hpp"
#include "support/march.hpp"
#include "support/stream.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

using test::Ray;

const std::string rest = "\ngenerators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n";

struct Gas {
  config::Config config;
  Setup setup;
  explicit Gas(const std::string& dataset, const std::string& line = "Lya")
      : config(config::parse("line: " + line + "\ndataset: " + dataset + rest, "test")), setup(build_setup(config)) {}
  template <class Real>
  AnyProblem<Real> problem() const {
    return choose_problem<Real>(config, setup, setup.medium.dataset);
  }
};

/// Rays from points within `size` of the origin, in all directions, at frequencies within `width` of the line.
std::vector<Ray> random_rays(int count, double size, double width) {
  auto random = xoshiro<double>(stream_key(11, 1));
  std::vector<Ray> rays;
  for (int i = 0; i < count; ++i) {
    const auto d = isotropic_direction<double>(random.next(), random.next());
    const auto n = isotropic_direction<double>(random.next(), random.next());
    const double r = size * uniform<double>(random.next());
    rays.push_back({{r * n.x, r * n.y, r * n.z}, {d.x, d.y, d.z}, width * (2 * uniform<double>(random.next()) - 1)});
  }
  return rays;
}

/// Whether a photon on this ray with so much optical depth ahead collides before it leaves, by the steps of a run.
template <class Real>
bool collides(const AnyProblem<Real>& problem, const Medium& medium, const Ray& ray, double tau) {
  std::vector<double> memory(lane_bytes<Real>(1) / sizeof(double) + 1);
  const LaneArrays<Real> lanes = lane_arrays<Real>(memory.data(), 1);
  const auto& kernel = cpu::step_kernel<Real>(problem.kind(), "");
  test::start_ray(medium, ray, lanes);
  lanes.tau[0] = Real(tau);
  for (int i = 0; i < 1000000; ++i) {
    const bool ended = kernel.advance_one(lanes, problem.data(), 1, nullptr);
    if (lanes.scatterings[0] > 0 || lanes.phase[0] % 2 == 1) return true;  // scattered, absorbed, or at a collision
    if (ended) return false;
  }
  ADD_FAILURE() << "the photon does not end";
  return false;
}

/// The optical depth of a march is the one at which a photon's flight ends: a little less ahead and it collides, a
/// little more and it leaves.
template <class Real>
void compare_with_steps(const Gas& gas, double size, double width) {
  const AnyProblem<Real> problem = gas.problem<Real>();
  const auto rays = random_rays(400, size, width);
  const auto results = test::march(problem, gas.setup.medium, rays);
  int compared = 0;
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const double tau = results[i].sum;
    if (!(tau > 1e-4 && tau < 1e6)) continue;
    const double margin = sizeof(Real) == 4 ? 1e-3 : 1e-9;
    EXPECT_TRUE(collides(problem, gas.setup.medium, rays[i], tau * (1 - margin))) << i << ": " << tau;
    EXPECT_FALSE(collides(problem, gas.setup.medium, rays[i], tau * (1 + margin))) << i << ": " << tau;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(March, EndsWhereThePhotonsOfASphereEnd) {
  const Gas gas("{type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300}");
  compare_with_steps<float>(gas, 0.9, 4), compare_with_steps<double>(gas, 0.9, 4);
}
TEST(March, EndsWhereThePhotonsOfAnOutflowEnd) {
  const Gas gas(
      "{type: shell, inner_radius: 0.2 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, density: {profile: "
      "power_law, exponent: -2}, velocity: {profile: linear, max: 100 km/s}, dust: {tau: 0.1}}");
  compare_with_steps<float>(gas, 0.9, 8), compare_with_steps<double>(gas, 0.9, 8);
}
TEST(March, EndsWhereThePhotonsOfASlabEnd) {
  const Gas gas(
      "{type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 30, velocity: {profile: linear, max: 50 km/s}}",
      "MgII");
  compare_with_steps<double>(gas, 0.9, 8);
}
TEST(March, EndsWhereThePhotonsOfAGridEnd) {
  const Gas gas(
      "{type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, cells: 16, velocity: {profile: linear, max: "
      "60 "
      "km/s}}");
  compare_with_steps<float>(gas, 6, 4), compare_with_steps<double>(gas, 6, 4);
}

TEST(March, FromTheCentreOfASphereHasTheDepthOfARadius) {
  const Gas gas("{type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e4}");
  const std::vector<Ray> rays{{{0, 0, 0}, {0, 0, 1}, 0}, {{0, 0, -1}, {0, 0, 1}, 0}, {{0, 0, 3}, {1, 0, 0}, 0}};
  const auto depth = test::march(gas.problem<double>(), gas.setup.medium, rays);
  const double h0 = std::exp(gas.setup.medium.a * gas.setup.medium.a) * std::erfc(gas.setup.medium.a);  // H(a, 0)
  EXPECT_NEAR(depth[0].sum / (1e4 * h0), 1, 2e-4);
  EXPECT_NEAR(depth[1].sum / (2e4 * h0), 1, 2e-4);
  EXPECT_EQ(depth[2].sum, 0) << "it misses";
  EXPECT_NEAR(depth[1].length, 2, 1e-12);
  EXPECT_EQ(depth[1].end, Phase::escaped);
}

}  // namespace
}  // namespace thor
