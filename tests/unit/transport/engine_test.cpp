#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "support/grid.hpp"
#include "support/run.hpp"

namespace {

using namespace thor;

std::string yaml(const std::string& dataset, int photons, const std::string& more = "",
                 const std::string& line = "Lya") {
  return "line: " + line + "\ndataset: {" + dataset +
         "}\ngenerators: [{type: point, photons: " + std::to_string(photons) +
         ", luminosity: 1e42 erg/s}]\noutput: {path: x.h5}\n" + more;
}
const std::string media[] = {
    "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300",
    "type: shell, inner_radius: 0.3 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, density: {profile: "
    "power_law, "
    "exponent: -2}, velocity: {profile: power_law, exponent: 0.5, max: 80 km/s}, dust: {tau: 0.5}",
    "type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 300, velocity: {profile: linear, max: 50 km/s}, "
    "dust: "
    "{tau: 0.5}",
    "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, velocity: {profile: linear, max: 50 km/s}, dust: "
    "{tau: 0.5}, cells: 12"};

void expect_identical(const std::vector<Photon>& a, const std::vector<Photon>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].id, b[i].id);
    ASSERT_EQ(a[i].fate, b[i].fate) << i;
    ASSERT_EQ(a[i].scatterings, b[i].scatterings) << i;
    ASSERT_EQ(a[i].steps, b[i].steps) << i;
    ASSERT_EQ(std::memcmp(&a[i].frequency_final, &b[i].frequency_final, sizeof(double)), 0) << i;
    ASSERT_EQ(std::memcmp(a[i].position, b[i].position, sizeof a[i].position), 0) << i;
    ASSERT_EQ(std::memcmp(a[i].direction, b[i].direction, sizeof a[i].direction), 0) << i;
    ASSERT_EQ(std::memcmp(&a[i].column, &b[i].column, sizeof(double)), 0) << i;
  }
}

TEST(Engine, SamePhotonsForAnyThreadsAndLanes) {
  for (const auto& medium : media) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, 200, precision);
      const auto reference = test::run(text, {}, {1, true, ""});
      for (const int threads : {1, 2, 7}) expect_identical(reference, test::run(text, {}, {threads, false, ""}));
      for (const auto skip : {"local", "{fixed: 2}"}) {
        const std::vector<std::string> set{std::string("acceleration.core_skip=") + skip};
        expect_identical(test::run(text, set, {1, true, ""}), test::run(text, set, {2, false, ""}));
      }
      const std::vector<std::string> jumps{"acceleration.jumps=true", "dataset.tau0=1e5"};
      const auto one_by_one = test::run(text, jumps, {1, true, ""});
      expect_identical(one_by_one, test::run(text, jumps, {2, false, ""}));
      std::int64_t count = 0;
      for (const Photon& p : one_by_one) count += p.jumps;
      EXPECT_GT(count, 200) << medium;
    }
  }
  // Deep spheres, and photons that jump in the wing.
  const std::string thick = ", temperature: 1e4 K, tau0: 1e8";
  for (const std::string& medium : {"type: slab, half_thickness: 1 kpc" + thick,
                                    "type: shell, outer_radius: 1 kpc, cells: 4" + thick + ", dust: {tau: 1e-3}"}) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, 100, precision);
      for (const char* recoil : {"false", "true"}) {
        const std::vector<std::string> set{"acceleration.jumps=true", std::string("physics.recoil=") + recoil};
        expect_identical(test::run(text, set, {1, true, ""}), test::run(text, set, {2, false, ""}));
      }
    }
  }
  const auto other = test::run(yaml(media[0], 200, "seed: 2\n"));
  EXPECT_NE(other[0].scatterings, test::run(yaml(media[0], 200))[0].scatterings);
}

// Doublets, isotopes and fluorescence, at line centre and over a continuum of all lines.
TEST(Engine, SamePhotonsOfMultipletsForAnyThreadsAndLanes) {
  struct {
    const char *line, *continuum, *more;
    bool skips;  ///< core skipping is possible
  } const lines[] = {{"MgII", "[2793 Angstrom, 2806 Angstrom]", "physics: {recoil: true}\n", true},
                     {"Lya", "[-120 km/s, 30 km/s]", "physics: {deuterium: 1e-2}\n", true},
                     {"SiII_1190", "[1189 Angstrom, 1195 Angstrom]", "", false},
                     {"FeII_UV", "[2340 Angstrom, 2605 Angstrom]", "", false}};
  for (const auto& medium : media) {
    for (const auto& c : lines) {
      for (const char* precision : {"precision: single\n", "precision: double\n"}) {
        const std::string text = yaml(medium, 150, precision + std::string(c.more), c.line);
        std::vector<std::string> set;
        const auto compare = [&] {
          const auto reference = test::run(text, set, {1, true, ""});
          expect_identical(reference, test::run(text, set, {1, false, ""}));
          expect_identical(reference, test::run(text, set, {2, false, ""}));
          for (const auto& p : reference) {
            ASSERT_TRUE(p.fate == Phase::escaped || p.fate == Phase::absorbed) << c.line;
            ASSERT_TRUE(std::isfinite(p.frequency_final) && std::isfinite(p.column)) << c.line;
          }
        };
        compare();
        set = {"generators.0.spectrum={type: continuum, range: " + std::string(c.continuum) + "}"};
        compare();
        if (c.skips) {
          set.push_back("acceleration.core_skip=local");
          compare();
        }
      }
    }
  }
}

TEST(Engine, EveryPhotonHasOneFate) {
  for (const auto& medium : media) {
    const auto photons = test::run(yaml(medium, 1000));
    ASSERT_EQ(photons.size(), 1000u);
    double sum = 0;
    for (std::size_t i = 0; i < photons.size(); ++i) {
      EXPECT_EQ(photons[i].id, i);
      EXPECT_TRUE(photons[i].fate == Phase::escaped || photons[i].fate == Phase::absorbed);
      EXPECT_TRUE(std::isfinite(photons[i].frequency_final) && std::isfinite(photons[i].column));
      sum += photons[i].weight;
    }
    EXPECT_NEAR(sum, 1e42, 1e30);
  }
}

TEST(Engine, ReplaysOnePhoton) {
  const auto config = config::parse(yaml(media[1], 500), "test");
  const auto setup = build_setup(config);
  const auto photons = test::run(yaml(media[1], 500));
  for (const std::uint64_t id : {0u, 7u, 499u}) {
    expect_identical({photons[id]}, {replay(config, setup, id, {1, false, ""})});
  }
  EXPECT_THROW(replay(config, setup, 500, {1, false, ""}), Error);
}

TEST(Engine, CapsMakePhotonsLost) {
  const auto photons = test::run(
      yaml("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e5", 100, "limits: {max_scatterings: 50}\n"));
  for (const auto& p : photons) {
    EXPECT_EQ(p.fate, Phase::lost);
    EXPECT_EQ(p.scatterings, 50);
  }
  for (const auto& p : test::run(yaml(media[0], 100, "limits: {max_steps: 3}\n"))) EXPECT_LE(p.steps, 3);
}

/// Photons of an interrupted run are still in flight; none is forgotten.
TEST(Engine, StopsWhenAsked) {
  const auto config = config::parse(yaml("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e9", 100000),
                                    "test", {"acceleration.jumps=false"});
  const auto setup = build_setup(config);
  Pool pool(0, setup.emitter.count(), 32);
  Control control;
  Tally tally = build_tally(config, setup);
  int flying = 0, ended = 0;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pool.close();
    control.abort = true;
  });
  run_problem(config, setup, pool, {nullptr, {}, {2, false, ""}}, control, tally, [&](std::span<const Photon> batch) {
    for (const auto& p : batch) ++(p.fate == Phase::fly || p.fate == Phase::collide ? flying : ended);
  });
  EXPECT_GT(flying, 0);
  EXPECT_EQ(std::uint64_t(flying + ended), tally[Counter::started]);
  EXPECT_EQ(std::uint64_t(flying), tally[Counter::in_flight]);
  EXPECT_TRUE(tally.conserves());
}

/// A failing sink (a full disk) ends the run with its error.
TEST(Engine, PassesOnTheErrorOfASink) {
  const auto config = config::parse(yaml(media[0], 5000), "test");
  const auto setup = build_setup(config);
  Pool pool(0, setup.emitter.count(), 32);
  Control control;
  Tally tally = build_tally(config, setup);
  EXPECT_THROW(run_problem(config, setup, pool, {nullptr, {}, {2, false, ""}}, control, tally,
                           [](std::span<const Photon>) { throw Error(ExitCode::output, "full"); }),
               Error);
}

/// Light from decays redward of every absorbing line flies until the Hubble flow has shifted it by stop_shift.
TEST(Engine, FluorescentPhotonsAreNotStoppedAtBirth) {
  test::GridOptions o;
  o.shape = {4, 4, 4};
  o.periodic = true, o.hubble = 3e-15;
  o.gas = [](int, int, int) { return test::GridCell{1e-6, 1e4}; };
  const test::GridFile file(o);
  for (const char* precision : {"single", "double"}) {
    const std::string text =
        "line: FeII_UV1\nprecision: " + std::string(precision) +
        "\ndataset: {type: uniform_grid, density_field: HI_density, stop_shift: 5 Angstrom, path: " + file.path() +
        "}\ngenerators: [{type: point, photons: 300}]\noutput: {path: x.h5}\n";
    const auto config = config::parse(text, "test");
    const double unit = build_setup(config).medium.thermal_speed / constants::c;
    int fluorescent = 0;
    for (const auto& p : test::run(text)) {
      EXPECT_EQ(p.fate, Phase::stopped);
      const double shift = std::expm1((p.frequency_scattered - p.frequency_final) * unit) * 2600.1721;
      const double wavelength = 2600.1721 * std::exp(-p.frequency_final * unit);
      EXPECT_GT(wavelength, 2605.1);
      EXPECT_GT(shift, 4.9);
      EXPECT_LT(shift, 6) << "a step is not much longer than a cell";
      fluorescent += wavelength > 2620;
    }
    EXPECT_GT(fluorescent, 100);
  }
}

/// In gas at rest nothing shifts such light: it leaves through the faces.
TEST(Engine, FluorescentPhotonsLeaveGasAtRest) {
  test::GridOptions o;
  o.shape = {4, 4, 4};
  o.gas = [](int, int, int) { return test::GridCell{1e-6, 1e4}; };
  const test::GridFile file(o);
  int fluorescent = 0;
  for (const auto& p :
       test::run("line: FeII_UV1\ndataset: {type: uniform_grid, density_field: HI_density, stop_shift: 5 "
                 "Angstrom, path: " +
                 file.path() + "}\ngenerators: [{type: point, photons: 300}]\noutput: {path: x.h5}\n")) {
    EXPECT_EQ(p.fate, Phase::escaped);
    fluorescent += p.frequency_final < -100;
  }
  EXPECT_GT(fluorescent, 100);
}

/// The same speed everywhere, in gas that extends to the centre, and in a slab whose halves move apart.
TEST(Engine, ConstantSpeedIsAPowerLawOfZero) {
  for (const std::string gas : {"type: shell, outer_radius: 1 kpc", "type: slab, half_thickness: 1 kpc",
                                "type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc"}) {
    const auto run = [&](const std::string& velocity) {
      return test::run(yaml(gas + ", temperature: 1e4 K, tau0: 1000, velocity: {" + velocity + "}", 300));
    };
    const auto constant = run("profile: constant, max: 30 km/s");
    expect_identical(constant, run("profile: power_law, exponent: 0, max: 30 km/s"));
    double red = 0;
    std::int64_t scatterings = 0, others = 0, steps = 0;
    for (const auto& p : constant) {
      ASSERT_EQ(p.fate, Phase::escaped);
      red -= p.frequency_final / 300, scatterings += p.scatterings, steps += p.steps;
    }
    for (const auto& p : run("profile: linear, max: 30 km/s")) others += p.scatterings;
    EXPECT_GT(red, 1) << "an outflow";
    EXPECT_NE(scatterings, others) << "the twin: another flow";
    EXPECT_LT(steps - scatterings, 300 * 1000) << "few steps are spent at the centre, where the velocity jumps";
  }
}

TEST(Fates, HaveOneTable) {
  EXPECT_STREQ(fate_of(Phase::stopped).name, "stopped");
  EXPECT_STREQ(fate_of(Phase::lost).name, "lost");
  EXPECT_STREQ(fate_of(Phase::fly).name, "in_flight");
  EXPECT_STREQ(fate_of(Phase::collide).name, "in_flight");
  for (const FateInfo& fate : fates) EXPECT_EQ(&fate_of(fate.phase), &fate);
}

TEST(Engine, PhotonsKnowWhereTheyCameFrom) {
  for (const auto& medium : media) {
    for (const auto& p : test::run(yaml(medium, 100), {"generators.0.position=[0.1 kpc, -0.2 kpc, 0.4 kpc]"})) {
      const double size = medium.find("cells: 12") != std::string::npos ? 1. / 6 : 1;  // of a cell
      const double expected[] = {0.1, -0.2, 0.4};
      for (int k = 0; k < 3; ++k) ASSERT_NEAR(p.position_initial[k] * size, expected[k], 1e-6);
      ASSERT_EQ(p.generator, 0);
      ASSERT_EQ(p.source, 0u);
    }
  }
}

TEST(Pool, HandsOutEachIdOnce) {
  Pool pool(10, 1000, 4);
  std::vector<int> seen(1000, 0);
  for (auto block = pool.take(); !block.empty(); block = pool.take()) {
    for (; !block.empty(); ++block.next) ++seen[block.next];
  }
  for (int id = 0; id < 1000; ++id) EXPECT_EQ(seen[std::size_t(id)], id >= 10 ? 1 : 0);
}

}  // namespace
