// Sphere jumps in gas of a tau > 1000, where photons in the wing jump, too; and jumps with recoil and deuterium.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace test;

/// Cold gas, with a = 0.01. Tables up to 3e4 (a tau = 300) have neither deep spheres nor jumps in the wing.
const std::string cold = "temperature: 22.2 K", deep = "{jumps: true}", shallow = "{jumps: true, jump_depth: 3e4}";

std::string deep_model(const std::string& dataset, int photons, const std::string& acceleration,
                       const std::string& generator, const std::string& more = "") {
  return fmt::format(
      "line: Lya\nseed: 8\ndataset: {{{}}}\ngenerators: [{{{}, photons: {}}}]\nacceleration: {}\noutput: {{path: "
      "x.h5}}\n{}",
      dataset, generator, photons, acceleration, more);
}

double errors_apart(const std::vector<thor::Photon>& a, const std::vector<thor::Photon>& b, auto value) {
  const Moments m = moments(collect(a, value)), n = moments(collect(b, value));
  return std::abs(m.mean - n.mean) / std::hypot(m.error, n.error, 0.004 * m.mean);
}
double spectra_alike(const std::vector<thor::Photon>& a, const std::vector<thor::Photon>& b) {
  const auto x = frequencies(a), y = frequencies(b);
  return ks_p(ks_distance(x, y), double(x.size()), double(y.size()));
}
double steps_a_photon(const std::vector<thor::Photon>& photons) {
  double sum = 0;
  for (const auto& p : photons) sum += double(p.steps);
  return sum / double(photons.size());
}
const auto path_of = [](const thor::Photon& p) { return p.column; };
const auto scatterings_of = [](const thor::Photon& p) { return double(p.scatterings); };
const auto detuning_of = [](const thor::Photon& p) { return std::abs(p.frequency_final); };
const auto radius_of = [](const thor::Photon& p) { return std::hypot(p.position[0], p.position[1], p.position[2]); };
/// Distance of the last flight from the centre.
const auto impact_of = [](const thor::Photon& p) {
  double along = 0;
  for (int k = 0; k < 3; ++k) along += p.position[k] * p.direction[k];
  return std::sqrt(std::max(std::pow(radius_of(p), 2) - along * along, 0.));
};
const auto red_of = [](const thor::Photon& p) { return p.frequency_final < 0 ? 1. : 0.; };

// a tau0 = 2e4, with a jump over the whole sphere from its centre and jumps in the wing from elsewhere.
class DeepSphere : public testing::TestWithParam<const char*> {};
TEST_P(DeepSphere, HasThePhotonsOfSmallJumps) {
  const auto photons = [&](double tau0, const std::string& acceleration, int count) {
    const std::string gas = fmt::format("type: shell, outer_radius: 1 kpc, {}, tau0: {}", cold, tau0);
    return run(deep_model(gas, count, acceleration, GetParam()));
  };
  const auto truth = photons(2e6, shallow, 8000), jumped = photons(2e6, deep, 20000);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_LT(errors_apart(truth, jumped, detuning_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, path_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, scatterings_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, radius_of), 4) << "of the last scattering";
  for (const auto& p : jumped) ASSERT_LE(radius_of(p), 1.00001) << "outside the gas";
  const auto b = collect(truth, impact_of), c = collect(jumped, impact_of);
  EXPECT_GT(ks_p(ks_distance(b, c), double(b.size()), double(c.size())), 1e-3) << "the disc that is seen";
  std::vector<double> even;
  for (int i = 0; i < 20000; ++i) even.push_back(std::sqrt((i + 0.5) / 20000));
  EXPECT_LT(ks_p(ks_distance(b, even), double(b.size()), 20000), 1e-6) << "its limb must be darker";
  EXPECT_GT(steps_a_photon(truth), 300);
  EXPECT_LT(steps_a_photon(jumped), 100);
  EXPECT_LT(spectra_alike(truth, photons(2.4e6, deep, 20000)), 1e-3) << "20 % in tau0 must show";
}
INSTANTIATE_TEST_SUITE_P(DeepJumps, DeepSphere,
                         testing::Values("type: point", "type: point, position: [0.3 kpc, 0 kpc, 0.4 kpc]",
                                         "type: extended, shape: medium"));

// The share of light at line centre, of which the analytic spectrum (Dijkstra et al. 2006) has 7.6e-4 within 0.1 and
// 8.1e-3 within 0.22 (a tau0)^{1/3}.
TEST(DeepJumps, LeaveTheTroughDark) {
  const auto photons =
      run(deep_model("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e9", 60000, deep, "type: point"));
  const double width = std::cbrt(4.7e-4 * 1e9);
  const auto share = [&](double limit) {
    return double(std::ranges::count_if(photons, [&](const auto& p) { return detuning_of(p) < limit * width; })) /
           60000;
  };
  EXPECT_NEAR(share(0.1), 7.6e-4, 4e-4);
  EXPECT_NEAR(share(0.22), 8.1e-3, 1.6e-3);
}

TEST(DeepJumps, TakeFewStepsAtAnyDepth) {
  for (const char* source :
       {"type: point", "type: point, position: [0 kpc, 0.5 kpc, 0 kpc]", "type: extended, shape: medium"}) {
    for (const double tau0 : {1e7, 1e8, 1e10}) {
      const std::string gas = fmt::format("type: shell, outer_radius: 1 kpc, temperature: 2e4 K, tau0: {}", tau0);
      EXPECT_LT(steps_a_photon(run(deep_model(gas, 500, deep, source))), 300) << tau0;
    }
  }
}

// Cells of a tau = 3e3 to 3e4 that move by some thermal speeds.
TEST(DeepJumps, InCellsThatMove) {
  constexpr double cell = 3.0856775814913673e21 / 4, sigma = 5.898e-14 * 21.2;
  const auto grid = [&](double speed) {
    GridOptions o;
    o.shape = {4, 4, 4};
    o.gas = [=](int x, int y, int z) {
      const auto hash = [&](int salt) { return double((x * 7 + y * 13 + z * 29 + salt * 17) % 11) / 10; };
      GridCell c{3e5 * std::pow(10., hash(1)) / (sigma * cell), 22.2, {}, 0, 0};
      for (int k = 0; k < 3; ++k) c.velocity[k] = speed * (hash(2 + k) - 0.5);
      return c;
    };
    return o;
  };
  const GridFile file(grid(10)), faster(grid(20));
  const auto photons = [&](const GridFile& f, const std::string& acceleration, int count) {
    return run(deep_model("type: uniform_grid, path: " + f.path(), count, acceleration, "type: point"));
  };
  const auto truth = photons(file, shallow, 1500), jumped = photons(file, deep, 3000);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_LT(errors_apart(truth, jumped, detuning_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, path_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, radius_of), 4);
  EXPECT_LT(steps_a_photon(jumped), 0.8 * steps_a_photon(truth));
  EXPECT_LT(spectra_alike(truth, photons(faster, deep, 3000)), 1e-3) << "twice the speed must show";
}

/// A box of `n`^3 equal cells, of which the corners hold gas that moves.
GridOptions equal_cells(int n, double tau_of_box, double temperature, double speed) {
  constexpr double side = 3.0856775814913673e21;
  GridOptions o;
  o.shape = {n, n, n};
  o.gas = [=](int x, int y, int z) {
    GridCell c{tau_of_box / (side * 5.898e-14 * std::sqrt(1e4 / temperature)), temperature, {}, 0, 0};
    if (2 * x / n == 1 && 2 * y / n == 1 && 2 * z / n == 1) c.velocity = {speed, 0, 0};
    return c;
  };
  return o;
}

// A box in cells of any size, and through them in one jump.
TEST(DeepJumps, ThroughEqualCells) {
  const GridFile coarse(equal_cells(2, 2e6, 22.2, 5)), fine(equal_cells(16, 2e6, 22.2, 5)),
      other(equal_cells(16, 2e6, 22.2, 10));
  const auto photons = [&](const GridFile& f, const std::string& acceleration, int count) {
    return run(deep_model("type: uniform_grid, path: " + f.path(), count, acceleration,
                          "type: point, position: [0.1 kpc, 0.12 kpc, -0.2 kpc]"));
  };
  const auto truth = photons(coarse, shallow, 3000), jumped = photons(fine, deep, 10000);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_LT(errors_apart(truth, jumped, detuning_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, path_of), 4);
  const auto along_x = [](const thor::Photon& p) { return p.direction[0]; };
  EXPECT_LT(errors_apart(truth, jumped, along_x), 4);
  for (int k = 0; k < 3; ++k) {
    const auto place = [k](double cells) {
      return [=](const thor::Photon& p) { return std::abs(p.position[k]) / cells; };
    };
    const Moments a = moments(collect(truth, place(2))), b = moments(collect(jumped, place(16)));
    EXPECT_LT(std::abs(a.mean - b.mean) / std::hypot(a.error, b.error), 4) << "of the last scattering, axis " << k;
  }
  EXPECT_LT(spectra_alike(truth, photons(other, deep, 10000)), 1e-3) << "twice the speed must show";
}

TEST(DeepJumps, TakeFewStepsThroughEqualCells) {
  const GridFile file(equal_cells(8, 8e9, 2e4, 0));
  for (const char* source : {"type: point", "type: point, position: [0 kpc, 0.25 kpc, 0.1 kpc]"}) {
    EXPECT_LT(steps_a_photon(run(deep_model("type: uniform_grid, path: " + file.path(), 500, deep, source))), 300);
  }
}

TEST(DeepJumps, InDust) {
  const auto photons = [&](double dust, const std::string& acceleration, int count) {
    return run(deep_model(
        fmt::format("type: shell, outer_radius: 1 kpc, {}, tau0: 2e6, dust: {{tau: {}, albedo: 0}}", cold, dust), count,
        acceleration, "type: point, position: [0.3 kpc, 0 kpc, 0.4 kpc]"));
  };
  const auto escapes = [](const thor::Photon& p) { return p.fate == thor::Phase::escaped ? 1. : 0.; };
  const auto truth = photons(0.03, shallow, 8000), jumped = photons(0.03, deep, 20000);
  EXPECT_LT(errors_apart(truth, jumped, escapes), 4);
  EXPECT_LT(errors_apart(truth, jumped, path_of), 4);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_GT(errors_apart(truth, photons(0.036, deep, 20000), escapes), 4) << "20 % more dust must show";
}

// The share of red photons: of a tau0 = 95 against every scattering, of 2e4 against small jumps.
TEST(DeepJumps, WithRecoil) {
  const auto photons = [&](const char* temperature, double tau0, bool recoil, const std::string& acceleration,
                           int count) {
    const std::string gas =
        fmt::format("type: shell, outer_radius: 1 kpc, temperature: {} K, tau0: {}", temperature, tau0);
    return run(deep_model(gas, count, acceleration, "type: point", recoil ? "physics: {recoil: true}\n" : ""));
  };
  const auto truth = photons("2.22", 3e3, true, "{core_skip: none}", 8000),
             jumped = photons("2.22", 3e3, true, deep, 40000);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_LT(errors_apart(truth, jumped, red_of), 4);
  EXPECT_GT(errors_apart(truth, photons("2.22", 3e3, false, deep, 40000), red_of), 8) << "no recoil must show";
  const auto small = photons("22.2", 2e6, true, shallow, 8000), large = photons("22.2", 2e6, true, deep, 40000);
  EXPECT_GT(spectra_alike(small, large), 1e-3);
  EXPECT_LT(errors_apart(small, large, red_of), 4);
  EXPECT_GT(errors_apart(small, photons("22.2", 2e6, false, deep, 40000), red_of), 8) << "no recoil must show";
}

// Deuterium, more of it than in nature so that it shows, against spheres in which it absorbs a tenth as much.
TEST(DeepJumps, WithDeuterium) {
  const auto photons = [&](double share, const std::string& acceleration, int count) {
    return run(deep_model("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e5", count, acceleration,
                          "type: point", fmt::format("physics: {{deuterium: {}}}\n", share)));
  };
  const auto truth = photons(8e-4, "{jumps: true, jump_depth: 300}", 6000), jumped = photons(8e-4, deep, 10000);
  EXPECT_GT(spectra_alike(truth, jumped), 1e-3);
  EXPECT_LT(errors_apart(truth, jumped, path_of), 4);
  EXPECT_LT(errors_apart(truth, jumped, red_of), 4);
  EXPECT_GT(moments(collect(jumped, scatterings_of)).mean, 300 * steps_a_photon(jumped));
  EXPECT_LT(spectra_alike(truth, photons(0, deep, 10000)), 1e-3) << "no deuterium must show";
}

}  // namespace
