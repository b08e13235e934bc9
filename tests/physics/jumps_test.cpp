// Sphere jumps against runs that follow every scattering, and against other codes.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace test;

const std::string every = "{core_skip: none}", jumps = "{jumps: true}";

std::string model(const std::string& dataset, int photons, const std::string& acceleration,
                  const std::string& generator = "type: point", const std::string& more = "") {
  return fmt::format(
      "line: Lya\ndataset: {{{}}}\ngenerators: [{{{}, photons: {}}}]\nacceleration: {}\noutput: {{path: x.h5}}\n{}",
      dataset, generator, photons, acceleration, more);
}

double column(const thor::Photon& p) { return p.column; }
double scatterings(const thor::Photon& p) { return double(p.scatterings); }
double radius(const thor::Photon& p) { return std::hypot(p.position[0], p.position[1], p.position[2]); }

/// Means of all photons, in units of the error of their difference.
template <class F>
double apart(const std::vector<thor::Photon>& a, const std::vector<thor::Photon>& b, F value) {
  const Moments m = moments(collect(a, value)), n = moments(collect(b, value));
  return std::abs(m.mean - n.mean) / std::hypot(m.error, n.error);
}
double alike(const std::vector<thor::Photon>& a, const std::vector<thor::Photon>& b) {
  const auto x = frequencies(a), y = frequencies(b);
  return ks_p(ks_distance(x, y), double(x.size()), double(y.size()));
}

// A temperature between the nodes of the tables; the source in the centre and beside the edge, with all tables and with
// small ones only.
struct Place {
  const char *source, *acceleration;
  friend void PrintTo(const Place& p, std::ostream* out) { *out << p.source << ", " << p.acceleration; }
};
class JumpsInASphere : public testing::TestWithParam<Place> {};
TEST_P(JumpsInASphere, GiveThePhotonsOfEveryScattering) {
  const std::string gas = "type: shell, outer_radius: 1 kpc, temperature: 1.7e4 K, tau0: {}";
  const std::string source = std::string("type: point, position: ") + GetParam().source;
  const auto photons = [&](double tau0, const std::string& acceleration, int count) {
    return run(model(fmt::format(fmt::runtime(gas), tau0), count, acceleration, source, "seed: 3\n"));
  };
  const auto truth = photons(2e4, every, 2000), jumped = photons(2e4, GetParam().acceleration, 15000);
  EXPECT_GT(alike(truth, jumped), 1e-3);
  EXPECT_LT(apart(truth, jumped, [](const auto& p) { return std::abs(p.frequency_final); }), 4);
  EXPECT_LT(apart(truth, jumped, column), 4);
  EXPECT_LT(apart(truth, jumped, scatterings), 4);
  EXPECT_LT(apart(truth, jumped, radius), 4) << "of the last scattering";
  for (const auto& p : jumped) ASSERT_LE(radius(p), 1.00001) << "outside the gas";
  EXPECT_GT(apart(truth, photons(2.4e4, GetParam().acceleration, 15000), column), 4) << "20 % in tau0 must show";
  std::int64_t steps = 0;
  for (const auto& p : jumped) steps += p.steps;
  EXPECT_LT(double(steps) / double(jumped.size()), 300);
}
INSTANTIATE_TEST_SUITE_P(Jumps, JumpsInASphere,
                         testing::Values(Place{"[0 kpc, 0 kpc, 0 kpc]", "{jumps: true}"},
                                         Place{"[0 kpc, 0 kpc, 0 kpc]", "{jumps: true, jump_depth: 700}"},
                                         Place{"[0.3 kpc, 0.4 kpc, -0.5 kpc]", "{jumps: true}"}));

// Dust that absorbs, and dust that scatters nine photons of ten; the light is that of every scattering.
class JumpsInDust : public testing::TestWithParam<const char*> {};
TEST_P(JumpsInDust, LeaveTheSameLight) {
  const auto photons = [&](double tau, const std::string& acceleration, int count) {
    return run(
        model(fmt::format("type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1e4, dust: {{tau: {}, {}}}",
                          tau, GetParam()),
              count, acceleration, "type: point", "seed: 4\n"));
  };
  const int followed =
      std::string(GetParam()) == "albedo: 0" ? 8000 : 5000;  // more light escapes from dust that scatters
  const auto truth = photons(0.5, every, followed), jumped = photons(0.5, jumps, 40000);
  const auto escapes = [](const thor::Photon& p) { return p.fate == thor::Phase::escaped ? 1. : 0.; };
  EXPECT_LT(apart(truth, jumped, escapes), 4);
  EXPECT_GT(alike(truth, jumped), 1e-3);
  EXPECT_LT(apart(truth, jumped, column), 4) << "absorbed photons included";
  EXPECT_GT(apart(truth, photons(0.6, jumps, 40000), escapes), 4) << "20 % more dust must show";
  // Where and after how many scatterings a photon is absorbed inside a jump are fits.
  const auto of_absorbed = [](const std::vector<thor::Photon>& all, auto value) {
    double sum = 0, count = 0;
    for (const auto& p : all) {
      if (p.fate == thor::Phase::absorbed) sum += value(p), ++count;
    }
    return sum / count;
  };
  EXPECT_NEAR(of_absorbed(jumped, radius) / of_absorbed(truth, radius), 1, 0.1);
  const auto detuning = [](const thor::Photon& p) { return std::abs(p.frequency_final); };
  EXPECT_NEAR(of_absorbed(jumped, detuning) / of_absorbed(truth, detuning), 1, 0.1);
}
INSTANTIATE_TEST_SUITE_P(Jumps, JumpsInDust, testing::Values("albedo: 0", "albedo: 0.9, g: 0.2"));

// How often a photon has scattered when dust absorbs it inside a jump: to 0.5 % and the error of both means.
TEST(Jumps, CountTheScatteringsOfAbsorbedPhotons) {
  const auto photons = [&](double tau0, double dust, const std::string& acceleration, int count) {
    auto all = run(model(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: {}, dust: {{tau: {}, "
                                     "albedo: 0}}",
                                     tau0, dust),
                         count, acceleration, "type: point", "seed: 6\n"));
    std::erase_if(all, [](const thor::Photon& p) { return p.fate != thor::Phase::absorbed; });
    return all;
  };
  for (const auto& [tau0, dust] : {std::pair{301., 0.3}, {301., 2.}, {3001., 0.2}}) {
    const auto truth = photons(tau0, dust, every, 10000), jumped = photons(tau0, dust, jumps, 40000);
    const Moments m = moments(collect(truth, scatterings)), n = moments(collect(jumped, scatterings));
    EXPECT_NEAR(n.mean, m.mean, 0.005 * m.mean + 4 * std::hypot(m.error, n.error)) << tau0 << ", " << dust;
    const Moments w = moments(collect(photons(tau0, 1.2 * dust, jumps, 40000), scatterings));
    EXPECT_GT(std::abs(w.mean - m.mean), 0.005 * m.mean + 4 * std::hypot(m.error, w.error)) << "20 % more dust";
  }
}

// Where no sphere is thick enough, tables would only cost time: the photons are those of a run without.
TEST(Jumps, AreLeftOutWhereNoneCanHappen) {
  const auto has_tables = [](const std::string& yaml) {
    return thor::build_setup(thor::config::parse(yaml, "test")).jumps != nullptr;
  };
  const std::string thick = "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3";
  const std::string wind =
      "type: shell, inner_radius: 0.1 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, density: {profile: "
      "power_law, exponent: -2}, velocity: {profile: power_law, exponent: 0, max: 200 km/s}";
  EXPECT_TRUE(has_tables(model(thick, 10, jumps)));
  EXPECT_FALSE(has_tables(model("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 20", 10, jumps)));
  EXPECT_FALSE(has_tables(model(wind, 10, jumps)));
  // The other line of a doublet is 8 widths away.
  auto doublet = model("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 60 km/s, tau0: 1e3", 10, jumps);
  EXPECT_FALSE(has_tables(doublet.replace(6, 3, "CIV")));
  const auto with = run(model(wind, 500, jumps)), without = run(model(wind, 500, every));
  for (std::size_t i = 0; i < with.size(); ++i) {
    ASSERT_EQ(with[i].frequency_final, without[i].frequency_final);
    ASSERT_EQ(with[i].scatterings, without[i].scatterings);
  }
  GridOptions o;
  o.shape = {4, 4, 4};
  o.gas = [](int x, int, int) { return GridCell{(x == 2 ? 500 : 5) / (5.898e-14 * 7.7e20), 1e4, {}, 0, 0}; };
  const GridFile some(o);
  o.gas = [](int, int, int) { return GridCell{5 / (5.898e-14 * 7.7e20), 1e4, {}, 0, 0}; };
  const GridFile none(o);
  EXPECT_TRUE(has_tables(model("type: uniform_grid, path: " + some.path(), 10, jumps)));
  EXPECT_FALSE(has_tables(model("type: uniform_grid, path: " + none.path(), 10, jumps)));
}

// LaRT's outflows: the limit on shear holds.
class JumpsInAnOutflow : public testing::TestWithParam<double> {};
TEST_P(JumpsInAnOutflow, GiveTheSpectrumOfAnotherCode) {
  const std::string path = reference(fmt::format("lart_hubble_N2e20_T2e4_vmax{:g}.csv", GetParam()));
  THOR_NEED_REFERENCE(path);
  const Curve curve = read_curve(path, "v_kms", "flux");
  const auto distance = [&](double v_max) {
    const auto photons =
        run(model(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 2e4 K, column_density: 2e20 cm^-2, "
                              "velocity: {{profile: linear, max: {} km/s}}",
                              v_max),
                  10000, jumps, "type: point", "physics: {phase_function: dipole}\n"));
    std::vector<double> v;
    for (const double x : frequencies(photons)) v.push_back(-x * 18.1657);
    return ks_distance(v, [&](double t) { return curve.cdf(t); });
  };
  EXPECT_LT(distance(GetParam()), 0.02);
  EXPECT_GT(distance(1.2 * GetParam()), 0.02) << "a velocity wrong by 20 % must not pass";
}
INSTANTIATE_TEST_SUITE_P(Jumps, JumpsInAnOutflow, testing::Values(20., 200.));

// A flow that is at rest in the centre and steep outside: a sphere there must not reach into it.
TEST(Jumps, InAFlowThatSteepens) {
  const auto photons = [](double speed, const std::string& acceleration, int count) {
    return run(
        model(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e4, velocity: {{profile: "
                          "power_law, exponent: 2, max: {} km/s}}",
                          speed),
              count, acceleration));
  };
  const auto truth = photons(100, every, 800), jumped = photons(100, jumps, 2000);
  EXPECT_GT(alike(truth, jumped), 1e-3);
  EXPECT_LT(apart(truth, jumped, [](const auto& p) { return p.frequency_final; }), 4);
  EXPECT_LT(apart(truth, jumped, column), 4);
  EXPECT_LT(apart(truth, jumped, scatterings), 4);
  std::int64_t count = 0;
  for (const auto& p : jumped) count += p.jumps;
  EXPECT_GT(count, 2000) << "some must jump";
  EXPECT_LT(alike(truth, photons(200, jumps, 2000)), 1e-3) << "twice the speed must show";
}

// A density that falls as r^-2. The length of sub-steps must not matter: it did while the opacity of a flight that ends
// in the first hundredth of a sub-step was that of its middle, and photons drifted outward.
TEST(Jumps, InADensityGradient) {
  const auto photons = [](double exponent, double limiter, const std::string& acceleration, int count) {
    return run(model(fmt::format("type: shell, inner_radius: 0.1 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: "
                                 "1e4, step_limiter: {}, density: {{profile: power_law, exponent: {}}}",
                                 limiter, exponent),
                     count, acceleration));
  };
  const auto fine = photons(-2, 0.02, every, 500), coarse = photons(-2, 0.3, every, 500);
  const auto jumped = photons(-2, 0.05, jumps, 4000), flatter = photons(-1.4, 0.05, jumps, 4000);
  for (const auto& other : {coarse, jumped}) {
    EXPECT_GT(alike(fine, other), 1e-3);
    EXPECT_LT(apart(fine, other, scatterings), 4);
    EXPECT_LT(apart(fine, other, column), 4);
    EXPECT_LT(apart(fine, other, radius), 4);
  }
  EXPECT_GT(apart(fine, flatter, radius), 4) << "another exponent must show";
}

// Cells of 1e2 to 1e4 with random velocities and temperatures, and some dust.
TEST(Jumps, InCellsOfAGrid) {
  constexpr double cell = 3.0856775814913673e21 / 8, sigma = 5.898e-14;
  const auto grid = [&](double factor) {
    GridOptions o;
    o.shape = {8, 8, 8};
    o.gas = [=](int x, int y, int z) {
      const auto hash = [&](unsigned salt) {
        unsigned h = unsigned(x) * 73856093u ^ unsigned(y) * 19349663u ^ unsigned(z) * 83492791u ^ salt * 2654435761u;
        h ^= h >> 13, h *= 0x5bd1e995u, h ^= h >> 15;
        return double(h % 1000) / 1000;
      };
      GridCell c{factor * std::pow(10., 2 + 2 * hash(1)) / (sigma * cell), 5e3 + 2e4 * hash(2), {}, 0, 0};
      for (unsigned k = 0; k < 3; ++k) c.velocity[k] = 20 * (hash(3 + k) - 0.5);
      return c;
    };
    return o;
  };
  const GridFile file(grid(1)), thick(grid(3));
  const auto photons = [&](const GridFile& f, const std::string& acceleration, int count, const char* precision) {
    return run(model("type: uniform_grid, path: " + f.path(), count, acceleration, "type: point",
                     fmt::format("seed: 5\nprecision: {}\n", precision)));
  };
  const auto truth = photons(file, every, 1300, "single");
  for (const char* precision : {"single", "double"}) {
    const auto jumped = photons(file, jumps, 5000, precision);
    EXPECT_GT(alike(truth, jumped), 1e-3) << precision;
    EXPECT_LT(apart(truth, jumped, [](const auto& p) { return std::abs(p.frequency_final); }), 4) << precision;
    EXPECT_LT(apart(truth, jumped, column), 4) << precision;
    EXPECT_LT(apart(truth, jumped, scatterings), 4) << precision;
    EXPECT_LT(apart(truth, jumped, radius), 4) << precision;
  }
  EXPECT_LT(alike(truth, photons(thick, jumps, 5000, "single")), 1e-3) << "three times the gas must show";
}

TEST(Jumps, OfADoublet) {
  const auto photons = [&](double tau0, const std::string& acceleration, int count) {
    std::string yaml =
        model(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 15 km/s, tau0: {}", tau0),
              count, acceleration, "type: point, spectrum: {type: gaussian, sigma: 30 km/s}");
    return run(yaml.replace(6, 3, "MgII"));
  };
  const auto truth = photons(3e3, every, 6000), jumped = photons(3e3, jumps, 40000);
  EXPECT_GT(alike(truth, jumped), 1e-3);
  EXPECT_LT(apart(truth, jumped, column), 4);
  EXPECT_LT(apart(truth, jumped, scatterings), 4);
  EXPECT_LT(alike(truth, photons(9e3, jumps, 40000)), 1e-3) << "three times the gas must show";
  double jumped_times = 0;
  for (const auto& p : jumped) jumped_times += double(p.jumps);
  EXPECT_GT(jumped_times, 0.5 * double(jumped.size()));
}

}  // namespace
