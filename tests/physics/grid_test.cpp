// Gas on a uniform grid, against the same gas without one and against exact results.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"
#include "thor/core/constants.hpp"

namespace {

using namespace test;
using thor::Compute;
namespace constants = thor::constants;

std::string shell(const std::string& dataset, int photons, const std::string& more = "",
                  const std::string& line = "Lya") {
  return fmt::format(
      "line: {}\ndataset: {{type: shell, outer_radius: 0.5 kpc, {}}}\ngenerators: [{{type: point, photons: {}}}]\n"
      "output: {{path: x.h5}}\n{}",
      line, dataset, photons, more);
}

std::string grid(const GridFile& file, const std::string& dataset, int photons, const std::string& more = "",
                 const std::string& line = "Lya") {
  return fmt::format(
      "line: {}\ndataset: {{type: uniform_grid, path: {}{}}}\ngenerators: [{{type: point, photons: {}}}]\n"
      "output: {{path: x.h5}}\n{}",
      line, file.path(), dataset, photons, more);
}

double two_sample_p(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = double(a.size()) * double(b.size()) / double(a.size() + b.size());
  const double d = ks_distance(a, b) * std::sqrt(n);
  double p = 0;
  for (int k = 1; k < 100; ++k) p += (k % 2 ? 2 : -2) * std::exp(-2. * k * k * d * d);
  return std::clamp(p, 0., 1.);
}

TEST(SphereOnAGrid, HasTheSpectrumOfTheSphere) {
  const std::string gas = "temperature: 2e4 K, tau0: ";
  const auto plain = magnitudes(frequencies(run(shell(gas + "1e4", 800))));
  const auto cells = magnitudes(frequencies(run(shell(gas + "1e4, cells: 32", 800, "seed: 2\n"))));
  const auto wrong = magnitudes(frequencies(run(shell(gas + "1.4e4, cells: 32", 800, "seed: 2\n"))));
  ASSERT_EQ(cells.size(), 800u);
  EXPECT_GT(two_sample_p(plain, cells), 0.01);
  EXPECT_LT(two_sample_p(plain, wrong), 1e-4) << "40 % more gas must not pass";
}

TEST(SphereOnAGrid, FlowsAndHoldsDust) {
  const std::string flow = "temperature: 2e4 K, velocity: {profile: linear, max: 60 km/s}, dust: {tau: 0.3}, tau0: 1e4";
  const auto plain = run(shell(flow, 4000)), cells = run(shell(flow + ", cells: 48", 4000, "seed: 2\n"));
  const auto slow =
      run(shell("temperature: 2e4 K, velocity: {profile: linear, max: 45 km/s}, dust: {tau: 0.3}, tau0: "
                "1e4, cells: 48",
                4000, "seed: 2\n"));
  EXPECT_GT(two_sample_p(frequencies(plain), frequencies(cells)), 0.01);
  EXPECT_LT(two_sample_p(frequencies(plain), frequencies(slow)), 1e-4);
  const double f = escape_fraction(plain), g = escape_fraction(cells);
  EXPECT_NEAR(f, g, 4 * std::sqrt(2 * f * (1 - f) / 4000));
  EXPECT_LT(f, 0.95) << "there is dust";
}

TEST(SphereOnAGrid, CoreSkippingIsUnbiasedAndThatOfTheSphere) {
  const std::string gas = "temperature: 100 K, tau0: 1e5", local = "acceleration: {core_skip: local}\n";
  const Compute two{nullptr, {}, {2, false, ""}};
  const auto all = run_all(shell(gas + ", cells: 32", 200), {}, two);
  const auto some = run_all(shell(gas + ", cells: 32", 1000, local + "seed: 2\n"), {}, two);
  const auto plain = run_all(shell(gas, 1000, local + "seed: 3\n"), {}, two);
  const auto much = run_all(shell(gas + ", cells: 32", 1000, "acceleration: {core_skip: {fixed: 5}}\n"), {}, two);
  const auto x = [](const Outcome& o) { return magnitudes(frequencies(o.photons)); };
  const auto per_photon = [](const Outcome& o) {
    return double(o.tally[thor::Counter::scatterings]) / double(o.photons.size());
  };
  EXPECT_GT(two_sample_p(x(all), x(some)), 0.01);
  EXPECT_LT(two_sample_p(x(all), x(much)), 1e-4) << "x_crit = 5 is too much";
  EXPECT_LT(per_photon(some), 0.5 * per_photon(all));
  EXPECT_NEAR(per_photon(some) / per_photon(plain), 1, 0.3);
}

/// An isothermal sphere; velocities are in thermal units at 1e4 K.
GridOptions ball(double density, double temperature, int n = 32) {
  GridOptions o;
  o.shape = {n, n, n};
  o.gas = [=](int x, int y, int z) {
    double share = 0;
    for (int k = 0; k < 64; ++k) {
      const double p[3] = {x + (k / 16 + 0.5) / 4 - n / 2., y + (k / 4 % 4 + 0.5) / 4 - n / 2.,
                           z + (k % 4 + 0.5) / 4 - n / 2.};
      share += p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < n * n / 4. ? 1. / 64 : 0;
    }
    return GridCell{density * share, temperature, {}, 0, 0};
  };
  return o;
}

std::vector<double> velocities(const std::string& yaml) {
  const auto config = thor::config::parse(yaml, "test");
  const auto setup = thor::build_setup(config);
  std::vector<double> v = magnitudes(frequencies(run(yaml)));
  for (double& x : v) x *= setup.medium.thermal_speed / constants::km;
  return v;
}

TEST(GridOfCells, HasTheWidthOfItsTemperature) {
  const auto plain = velocities(shell("temperature: 9e4 K, number_density: 2.5e-4 cm^-3", 600));
  const GridFile hot(ball(2.5e-4, 9e4)), cold(ball(2.5e-4, 6e4));
  EXPECT_GT(two_sample_p(plain, velocities(grid(hot, "", 600, "seed: 2\n"))), 0.01);
  EXPECT_LT(two_sample_p(plain, velocities(grid(cold, "", 600, "seed: 2\n"))), 1e-4);
  EXPECT_GT(two_sample_p(plain, velocities(grid(hot, ", packed: true", 600, "seed: 3\n"))), 0.01);
}

TEST(GridOfCells, HoldsDoublets) {
  const std::string flat = "type: continuum, range: [2790 Angstrom, 2812 Angstrom]";
  const auto spectrum = "generators.0.spectrum={" + flat + "}";
  const auto count = [&](const std::string& yaml) {
    std::vector<double> v;
    const auto setup = thor::build_setup(thor::config::parse(yaml, "test", {spectrum}));
    for (const auto& p : run(yaml, {spectrum})) {
      v.push_back(p.frequency_final * setup.medium.thermal_speed / constants::km);
    }
    return v;
  };
  const auto plain = count(shell("temperature: 2e4 K, number_density: 1e-6 cm^-3", 8000, "", "MgII"));
  const GridFile file(ball(1e-6, 2e4)), dense(ball(6e-6, 2e4));
  EXPECT_GT(two_sample_p(plain, count(grid(file, "", 8000, "seed: 2\n", "MgII"))), 0.01);
  // The fraction that scatters at all measures the density, through the k and h lines together.
  const auto scattered = [&](const std::string& yaml) {
    double n = 0;
    for (const auto& p : run(yaml, {spectrum})) n += p.scatterings > 0;
    return n;
  };
  const double a = scattered(shell("temperature: 2e4 K, number_density: 1e-6 cm^-3", 8000, "", "MgII"));
  EXPECT_NEAR(scattered(grid(file, "", 8000, "seed: 2\n", "MgII")), a, 4 * std::sqrt(2 * a));
  EXPECT_GT(std::abs(scattered(grid(dense, "", 8000, "seed: 2\n", "MgII")) - a), 4 * std::sqrt(2 * a));
  // Turbulence broadens the line and lowers its peak: once, not twice.
  const GridFile thin(ball(3e-8, 2e4));
  const std::string wide = ", b_turb: 20 km/s";
  const double b = scattered(shell("temperature: 2e4 K, number_density: 3e-8 cm^-3" + wide, 20000, "", "MgII"));
  EXPECT_NEAR(scattered(grid(thin, wide, 20000, "seed: 2\n", "MgII")), b, 4 * std::sqrt(2 * b));
  const GridFile thinner(ball(1.5e-8, 2e4));
  EXPECT_LT(scattered(grid(thinner, wide, 20000, "seed: 2\n", "MgII")), b - 4 * std::sqrt(2 * b));
}

TEST(HubbleFlow, RedshiftsByHTimesTheWay) {
  const double H = 1e-14;  // large enough to matter within a kpc
  GridOptions o;
  o.hubble = H;
  o.gas = [](int, int, int) { return GridCell{1e-20, 1e4, {}, 0, 0}; };
  const GridFile file(o);
  const std::string yaml = grid(file, "", 200);
  const auto setup = thor::build_setup(thor::config::parse(yaml, "test"));
  for (const char* precision : {"precision: single\n", "precision: double\n"}) {
    for (const auto& p : run(yaml + precision)) {
      double way = 1e300;
      for (int k = 0; k < 3; ++k) way = std::min(way, o.size / 2 / std::abs(p.direction[k]));
      const double expected = -H * way / setup.medium.thermal_speed;
      EXPECT_NEAR(p.frequency_final / expected, 1, 1e-5);
      EXPECT_EQ(p.fate, thor::Phase::escaped);
    }
  }
}

TEST(HubbleFlow, IsAnOutflowOfTheGas) {
  // In the frame of the gas both shift a photon by v_max per radius; only the frame of the escaping light differs.
  const double v_max = 40e5, R = 0.5 * 1e3 * constants::pc;
  const auto comoving = [&](const std::vector<thor::Photon>& photons, double unit, double size, bool expands) {
    std::vector<double> v;
    for (const auto& p : photons) {
      double frequency = p.frequency_final * unit / constants::km, along = 0, way = 1e300;
      for (int k = 0; k < 3; ++k) {
        along += p.position[k] * size * p.direction[k];
        way = std::min(way, ((p.direction[k] > 0 ? R : -R) - p.position[k] * size) / p.direction[k]);
      }
      frequency += (expands ? way : -along) * v_max / R / constants::km;  // at the last scattering
      v.push_back(frequency);
    }
    return v;
  };
  const std::string gas = "temperature: 1e4 K, tau0: 3e3";
  const std::string moving = shell(gas + ", velocity: {profile: linear, max: 40 km/s}", 4000);
  const auto at = thor::build_setup(thor::config::parse(moving, "test")).medium;
  const auto outflow = comoving(run(moving), at.thermal_speed, at.size, false);
  const auto expanding = [&](double H) {
    GridOptions o = ball(3e3 / (at.cross_section * R), 1e4);
    o.hubble = H;
    const GridFile file(o);
    const std::string yaml = grid(file, "", 4000, "seed: 2\n");
    const auto m = thor::build_setup(thor::config::parse(yaml, "test")).medium;
    return comoving(run(yaml), m.thermal_speed, m.size, true);
  };
  EXPECT_GT(two_sample_p(outflow, expanding(v_max / R)), 0.01);
  EXPECT_LT(two_sample_p(outflow, expanding(0.5 * v_max / R)), 1e-4);
}

TEST(PeriodicBox, HasNoSeam) {
  GridOptions o;
  o.shape = {12, 10, 14};
  o.periodic = true;
  o.hubble = 3e-15;
  const auto gas = [](int x, int y, int z) {
    const unsigned h = unsigned(x * 73856093 ^ y * 19349663 ^ z * 83492791) % 1000;
    return GridCell{1e-6 * std::exp(0.004 * h), 1e4 + 20. * h, {0.03 * h, -0.02 * h, 0.01 * h}, 0, 0};
  };
  const auto photons = [&](std::array<int, 3> shift) {
    o.gas = [&](int x, int y, int z) {
      return gas((x + shift[0]) % o.shape[0], (y + shift[1]) % o.shape[1], (z + shift[2]) % o.shape[2]);
    };
    const GridFile file(o);
    const double cell = o.size / o.shape[0];
    std::string position;
    for (std::size_t k = 0; k < 3; ++k) {  // in the same gas
      const int index = (7 - shift[k] + 2 * o.shape[k]) % o.shape[k];
      position += fmt::format("{}{:.17g} cm", k ? ", " : "", (index + 0.25 - o.shape[k] / 2.) * cell);
    }
    return run(grid(file, ", stop_shift: 2 Angstrom", 300), {"generators.0.position=[" + position + "]"});
  };
  const auto here = photons({0, 0, 0}), there = photons({5, 9, 3});
  ASSERT_EQ(here.size(), there.size());
  std::int64_t scatterings = 0;
  // Of the gas, some of which may come that fast, and 4 of its thermal widths.
  const double fastest = std::hypot(0.03, 0.02, 0.01) * 999e5 + 4 * 12.845e5 * std::sqrt(2.998);
  const double stop = (std::log1p(2 / 1215.67) * constants::c + fastest) / 12.845e5;  // in thermal units
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(here[i].fate, thor::Phase::stopped);
    EXPECT_LT(here[i].frequency_final, -0.999 * stop);
    EXPECT_GT(here[i].frequency_final, -1.1 * stop) << "in the first step beyond it";
    EXPECT_NEAR(here[i].frequency_final, there[i].frequency_final, 1e-3);
    EXPECT_EQ(here[i].scatterings, there[i].scatterings);
    scatterings += here[i].scatterings;
    const int shift[3] = {5, 9, 3};
    for (int k = 0; k < 3; ++k) {
      double gap = here[i].position[k] - there[i].position[k] - shift[k];
      gap -= std::round(gap / o.shape[std::size_t(k)]) * o.shape[std::size_t(k)];
      EXPECT_NEAR(gap, 0, 2e-3);
    }
  }
  EXPECT_GT(scatterings, 300);
}

}  // namespace
