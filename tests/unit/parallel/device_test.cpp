#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "support/grid.hpp"
#include "support/host_device.hpp"
#include "support/octree.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

/// The device engine, on a device that is the host and on each GPU available. Without a GPU those tests are skipped.
namespace device_test {

using namespace thor;

std::string yaml(const std::string& dataset, int photons, const std::string& more = "") {
  return "line: Lya\ndataset: {" + dataset + "}\ngenerators: [{type: point, photons: " + std::to_string(photons / 2) +
         ", luminosity: 1e42 erg/s}, {type: extended, shape: beam, radius: 1 kpc, photons: " +
         std::to_string(photons - photons / 2) +
         ", luminosity: 3e41 erg/s, spectrum: {type: continuum, range: [-300 km/s, 300 km/s]}}]\n"
         "outputs: [{type: spectrum, name: v, axis: velocity, range: [-200 km/s, 200 km/s], bins: 50},\n"
         "  {type: spectrum, name: x, axis: x, of: emitted, range: [-5, 5], bins: 7},\n"
         "  {type: spectrum, name: l, axis: wavelength, of: absorbed, range: [1210 Angstrom, 1220 Angstrom], bins: "
         "30},\n"
         "  {type: histogram, name: small, axes: [{quantity: radius, range: [1 pc, 1 kpc], bins: 9, spacing: log}, "
         "{quantity: x, range: [-9, 9], bins: 6}, {quantity: cosine, range: [-1, 1], bins: 4}]},\n"
         "  {type: histogram, name: large, axes: [{quantity: impact, range: [0 kpc, 1 kpc], bins: 400}, "
         "{quantity: velocity, range: [-200 km/s, 200 km/s], bins: 300}]},\n"
         "  {type: image, name: photons, observer: o, width: 2 kpc, pixels: 9, estimator: escaped, within: 60 deg, "
         "psf: "
         "{fwhm: 0.2 kpc}},\n"
         "  {type: profile, name: rings, observer: o, radius: 1 kpc, inner: 1 pc, spacing: log, bins: 9, estimator: "
         "escaped},\n"
         "  {type: cube, name: ifu, observer: o, width: 2 kpc, pixels: 3, estimator: escaped, lsf: {fwhm: 9 km/s}, "
         "range: "
         "[-200 km/s, 200 km/s], bins: 8},\n"
         "  {type: spectrum, name: cone, observer: o, estimator: escaped, range: [-200 km/s, 200 km/s], bins: 8}]\n"
         "observers: [{name: o, direction: [1, 2, 3]}]\n"
         "output: {path: x.h5}\n" +
         more;
}
const std::string sphere = "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300";
const std::string media[] = {
    sphere,
    "type: shell, inner_radius: 0.3 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300, density: {profile: "
    "power_law, exponent: -2}, velocity: {profile: power_law, exponent: 0.5, max: 80 km/s}, dust: {tau: 0.5}",
    "type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 300, velocity: {profile: linear, max: 50 km/s}, "
    "dust: {tau: 0.5}",
    sphere + ", velocity: {profile: linear, max: 50 km/s}, dust: {tau: 0.5}, cells: 12"};

class DeviceEngine : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto found = device::list();
    if (std::ranges::none_of(found, [](const device::Info& info) { return info.backend == GetParam(); })) {
      GTEST_SKIP() << "SKIPPED: no GPU: " << device::why_none(GetParam());
    }
    device_ = device::open(GetParam());
  }
  Compute compute(device::Options options = {}) { return {device_.get(), options, {2, false, ""}}; }
  /// The emulated device takes its time.
  static int fewer_on_host(int photons) { return GetParam() == std::string("host") ? photons * 2 / 5 : photons; }
  Compute processor() { return {nullptr, {}, {2, false, ""}}; }

  std::unique_ptr<device::Device> device_;
};

void expect_identical(const test::Outcome& a, const test::Outcome& b) {
  ASSERT_EQ(a.photons.size(), b.photons.size());
  for (std::size_t i = 0; i < a.photons.size(); ++i) {
    const Photon &p = a.photons[i], &q = b.photons[i];
    ASSERT_EQ(p.id, q.id);
    ASSERT_EQ(p.fate, q.fate) << i;
    ASSERT_EQ(p.scatterings, q.scatterings) << i;
    ASSERT_EQ(p.steps, q.steps) << i;
    ASSERT_EQ(p.weight, q.weight) << i;
    ASSERT_EQ(p.weight_initial, q.weight_initial) << i;
    ASSERT_EQ(p.generator, q.generator) << i;
    ASSERT_EQ(p.source, q.source) << i;
    ASSERT_EQ(p.frequency_initial, q.frequency_initial) << i;
    ASSERT_EQ(p.frequency_final, q.frequency_final) << i;
    for (int k = 0; k < 3; ++k) {
      ASSERT_EQ(p.position[k], q.position[k]) << i;
      ASSERT_EQ(p.direction[k], q.direction[k]) << i;
      ASSERT_EQ(p.position_initial[k], q.position_initial[k]) << i;
    }
    ASSERT_EQ(p.column, q.column) << i;
  }
  EXPECT_TRUE(a.tally == b.tally);
  EXPECT_TRUE(a.tally.conserves());
}

/// Gas in which mean free paths are a thousandth of the resolution of a single-precision position.
TEST_P(DeviceEngine, GivesThePhotonsThatScatterBesideAFace) {
  const std::string gas = ", temperature: 1e4 K, tau0: 3e10", few = "limits: {max_scatterings: 200}\n";
  for (const std::string& medium :
       {"type: shell, outer_radius: 1 kpc" + gas, "type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc" + gas,
        "type: slab, half_thickness: 1 kpc" + gas, "type: shell, outer_radius: 1 kpc, cells: 12" + gas}) {
    const std::string text = yaml(medium, 400, few);
    expect_identical(test::run_all(text, {}, compute()), test::run_all(text, {}, processor()));
  }
}

/// Deep spheres, and photons that jump in the wing.
TEST_P(DeviceEngine, GivesThePhotonsOfDeepSpheres) {
  const std::string gas = ", temperature: 1e4 K, tau0: 1e8";
  for (const std::string& medium :
       {"type: slab, half_thickness: 1 kpc" + gas, "type: shell, outer_radius: 1 kpc, cells: 4" + gas}) {
    const std::string text = yaml(medium, 200, "physics: {recoil: true}\n");
    const std::vector<std::string> jumps{"acceleration.jumps=true"};
    expect_identical(test::run_all(text, jumps, compute()), test::run_all(text, jumps, processor()));
  }
}

/// Every photon and every bin is bit-identical, for any number of lanes and wherever the last photons end.
TEST_P(DeviceEngine, GivesThePhotonsOfTheProcessor) {
  for (const auto& medium : media) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, fewer_on_host(1000), precision);
      for (const auto skip : {"none", "local", "global", "{fixed: 2}"}) {
        const std::vector<std::string> set{std::string("acceleration.core_skip=") + skip};
        const auto expected = test::run_all(text, set, processor());
        device::Options few;
        few.lanes = 70, few.stragglers = false;
        expect_identical(expected, test::run_all(text, set, compute(few)));
        expect_identical(expected, test::run_all(text, set, compute()));
      }
      const std::vector<std::string> jumps{"acceleration.jumps=true", "dataset.tau0=1e5"};
      expect_identical(test::run_all(text, jumps, processor()), test::run_all(text, jumps, compute()));
    }
  }
}

/// Outputs that rays fill.
const std::vector<std::string> observed{
    "observers=[{name: o, direction: [1, 2, 3]}, {name: p, direction: [0, 0, -1], up: [0, 1, 0]}]",
    "outputs=[{type: image, name: i, observer: o, width: 2 kpc, pixels: 9, psf: {fwhm: 0.2 kpc}}, "
    "{type: image, name: e, observer: o, width: 2 kpc, pixels: 9, of: emitted}, "
    "{type: cube, name: c, observer: p, width: 2 kpc, pixels: 3, range: [-200 km/s, 200 km/s], bins: 8, "
    "lsf: {fwhm: 9 km/s}}, "
    "{type: profile, name: r, observer: p, radius: 1 kpc, inner: 1 pc, spacing: log, bins: 9}, "
    "{type: spectrum, name: s, observer: o, aperture: {radius: 0.5 kpc}, range: [-200 km/s, 200 km/s], bins: 8}]"};
std::vector<std::string> with(std::vector<std::string> set, std::initializer_list<const char*> more) {
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

/// What observers see is bit-identical, also where photons have to wait for rays and end on the processor.
TEST_P(DeviceEngine, ShowsObserversWhatTheProcessorDoes) {
  for (const auto& medium : media) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, fewer_on_host(200), precision);
      for (const auto& set :
           {with(observed, {"acceleration.core_skip=none", "peel.memory=1 MB", "peel.thin_after=64"}),
            with(observed, {"acceleration.core_skip={fixed: 2}", "peel.roulette=30", "peel.memory=9 MB"}),
            with(observed, {"acceleration.jumps=true", "dataset.tau0=1e5", "peel.memory=9 MB"})}) {
        const auto expected = test::run_all(text, set, processor());
        EXPECT_GT(expected.tally[Counter::rays], 100u);
        device::Options few;
        few.lanes = 70, few.stragglers = false;
        expect_identical(expected, test::run_all(text, set, compute(few)));
        expect_identical(expected, test::run_all(text, set, compute()));
      }
    }
  }
  // Cold gas, in which the atom of a first collision is often refused: a jump then follows birth.
  const std::string cold = yaml("type: shell, outer_radius: 1 kpc, temperature: 100 K, tau0: 1e5", fewer_on_host(4000));
  const auto jumping = with(observed, {"acceleration.jumps=true", "peel.memory=9 MB"});
  expect_identical(test::run_all(cold, jumping, processor()), test::run_all(cold, jumping, compute()));
  const auto twin = with(observed, {"observers.0.direction=[1, 2, 3.1]"});
  EXPECT_FALSE(test::run_all(yaml(sphere, 400), observed, processor()).tally ==
               test::run_all(yaml(sphere, 400), twin, compute()).tally);
}

/// Groups of fused rays depend on their photon alone: not on threads, lanes, logs or devices.
TEST_P(DeviceEngine, FusesTheRaysThatTheProcessorFuses) {
  const char* const fuse = "peel.fuse={velocity: 8 km/s, distance: 0.4 kpc}";
  for (const auto& medium : media) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, fewer_on_host(200), precision);
      for (const auto& plain : {with(observed, {"acceleration.core_skip=none", "peel.memory=1 MB", "peel.thin_after=64",
                                                "peel.roulette=9"}),
                                with(observed, {"acceleration.jumps=true", "dataset.tau0=1e4", "peel.memory=9 MB"})}) {
        const auto set = with(plain, {fuse});
        const auto expected = test::run_all(text, set, processor());
        const auto apart = test::run_all(text, plain, processor());
        EXPECT_LT(expected.tally[Counter::rays], apart.tally[Counter::rays]);
        EXPECT_FALSE(expected.tally == apart.tally);
        device::Options few;
        few.lanes = 70;
        expect_identical(expected, test::run_all(text, set, compute(few)));
        expect_identical(expected, test::run_all(text, set, compute()));
        if (GetParam() != std::string("host")) continue;
        expect_identical(expected, test::run_all(text, set, {nullptr, {}, {1, true, ""}}));
        expect_identical(expected, test::run_all(text, set, {nullptr, {}, {3, false, ""}}));
      }
    }
  }
  // Sixteen observers, whose groups take most of the memory of events, against a limit that nothing is within.
  const std::string text = yaml(media[3], 100);
  auto many = with(observed, {"peel.memory=1 MB", fuse});
  many[0] = "observers=[{name: o, direction: [1, 2, 3]}, {name: p, direction: [0, 0, -1]}, {name: q, random: 14}]";
  many[1].insert(many[1].size() - 1, ", {type: spectrum, name: q, observer: q, range: [-200 km/s, 200 km/s], bins: 8}");
  expect_identical(test::run_all(text, many, processor()), test::run_all(text, many, compute()));
  const auto none = with(observed, {"peel.fuse={velocity: 1e-9 km/s, distance: 1e-9 pc}"});
  expect_identical(test::run_all(text, none, processor()), test::run_all(text, observed, compute()));
  expect_identical(test::run_all(text, observed, processor()), test::run_all(text, none, compute()));
}

/// Generators that shine into cones, and outputs of each of them.
TEST_P(DeviceEngine, ShowsEachGeneratorAsTheProcessorDoes) {
  const std::string cones =
      "generators=[{type: point, name: stars, direction: [1, 2, 2], opening_angle: 40 deg, photons: 150}, "
      "{type: extended, shape: beam, name: lamp, radius: 1.5 kpc, direction: [0, 0.1, -1], opening_angle: 30 deg, "
      "photons: 250, luminosity: 3 erg/s}, {type: point, photons: 100}]";
  std::string outputs;
  for (const char* generator : {"''", "stars", "lamp", "2"}) {
    const std::string of = std::string(", generator: ") + generator;
    const std::string name = std::string("name: n") + (generator[0] == '\'' ? "" : generator);
    outputs += "{type: image, " + name + "i, observer: o, width: 2 kpc, pixels: 9" + of + "}, {type: spectrum, " +
               name + "s, observer: p, range: [-200 km/s, 200 km/s], bins: 8" + of + "}, {type: spectrum, " + name +
               "v, range: [-200 km/s, 200 km/s], bins: 50" + of + "}, ";
  }
  for (const auto& medium : media) {
    for (const char* precision : {"precision: single\n", "precision: double\n"}) {
      const std::string text = yaml(medium, fewer_on_host(200), precision);
      const auto set = with(observed, {cones.c_str(), ("outputs=[" + outputs + "]").c_str(), "peel.memory=9 MB"});
      const auto expected = test::run_all(text, set, processor());
      for (std::size_t i = 0; i < 12; ++i) EXPECT_GT(expected.tally.light_of_outputs()[i].within, 0) << i;
      device::Options few;
      few.lanes = 70, few.stragglers = false;
      expect_identical(expected, test::run_all(text, set, compute(few)));
      expect_identical(expected, test::run_all(text, set, compute()));
      const auto twin = with(set, {"outputs.4.generator=lamp"});
      EXPECT_FALSE(test::run_all(text, set, compute()).tally.binned(4).light ==
                   test::run_all(text, twin, compute()).tally.binned(4).light);
    }
  }
}

/// Entries and tables of sources are copied to a device.
TEST_P(DeviceEngine, GivesThePhotonsOfCellsThatShine) {
  test::GridOptions o;
  o.shape = {9, 8, 11};
  o.dust = o.emissivity = o.periodic = true;
  o.hubble = 3e-15;
  o.gas = [](int x, int y, int z) {
    const int h = (x * 7 + y * 5 + z * 3) % 11;
    return test::GridCell{1e-6 * (1 + h), 1e4 + 500. * h, {5. * h, -3. * h, 0}, 1e-9 * h, 1e-25 * h};
  };
  const test::GridFile grid(o);
  const auto leaves = test::leaves_of(4, [](const OctreeLeaf& leaf) {
    return leaf.level < 2 || (leaf.at[0] * 3 + leaf.at[1] * 5 + leaf.at[2]) % 3 == 0;
  });
  const test::OctreeFile octree(o, leaves), sites(o, leaves, test::CellsAs::sites);
  // A lane program that reads an array of the host, in place of the device's copy, reads NaN.
  test::on_setup = [this](const thor::Setup& setup) {
    auto* host = dynamic_cast<test::HostDevice*>(device_.get());
    if (!host) return;
    host->poisoned.clear();
    const auto poison = [&](const void* data, std::size_t bytes) {
      host->poisoned.emplace_back(static_cast<std::byte*>(const_cast<void*>(data)), bytes);
      return data;
    };
    AnyDataset dataset = setup.medium.dataset;
    std::visit([&](auto& d) { for_each_array(d, poison); }, dataset);
    for (const auto& list : setup.emitter.lists) {
      if (!list) continue;  // a single source
      poison(list->end.data(), list->end.size() * sizeof(list->end[0]));
      poison(list->offset.data(), list->offset.size() * sizeof(float));
    }
    EXPECT_GE(host->poisoned.size(), 2u);
  };
  const std::string cells[] = {"{type: uniform_grid, path: " + grid.path(), "{type: octree, path: " + octree.path(),
                               "{type: voronoi, path: " + sites.path()};
  for (const std::string& gas :
       {cells[0], cells[0] + ", packed: true", cells[1], cells[1] + ", packed: true", cells[2]}) {
    const std::string text =
        "line: Lya\ndataset: " + gas +
        ", dust: {law: SMC}, stop_shift: 1 Angstrom}\ngenerators: [{type: point, photons: 100}, {type: gas, emission: "
        "recombination, photons: 500, spectrum: {type: thermal}}]\nacceleration: {core_skip: local}\noutput: {path: "
        "x.h5}\n";
    for (const auto& set : {std::vector<std::string>(), with(observed, {"peel.memory=9 MB"}),
                            with(observed, {"acceleration={jumps: true}", "peel.depth=1.5",
                                            "observers.0.rest={velocity: [100 km/s, 0 km/s, 0 km/s]}"})}) {
      const auto expected = test::run_all(text, set, processor());
      expect_identical(expected, test::run_all(text, set, compute()));
      EXPECT_GT(expected.tally[Counter::stopped], 0u);
    }
  }
  test::on_setup = {};
}

/// Lists of sources with weights, velocities and frames, in gas of every shape, dealt in turn with other generators.
TEST_P(DeviceEngine, GivesThePhotonsOfListsOfSources) {
  const std::string list = testing::TempDir() + "thor_device_sources_" + std::to_string(getpid()) + ".txt";
  {
    std::ofstream table(list);
    table << "# x[kpc] y[kpc] z[kpc] luminosity[erg/s] vx[km/s] vy[km/s] vz[km/s]\n";
    for (int i = 0; i < 40; ++i) table << 0.02 * i << " 0.1 " << -0.01 * i << " " << i * 1e40 << " 50 0 " << i << "\n";
  }
  for (const auto& medium : media) {
    for (const char* frame : {"gas", "source", "box"}) {
      for (const char* count : {"photons: 300", "photons_per_1e42: 31"}) {
        const std::string generator = "generators.1={type: sources, path: " + list + ", frame: " + frame + ", " +
                                      count + ", escape_fraction: 0.3, spectrum: {type: lorentzian, hwhm: 3 km/s}}";
        const auto expected = test::run_all(yaml(medium, 200), {generator}, processor());
        expect_identical(expected, test::run_all(yaml(medium, 200), {generator}, compute()));
        EXPECT_GT(expected.tally[Counter::light_unresolved], 0u);
        EXPECT_EQ(expected.photons.size(), count == std::string("photons: 300") ? 400u : 100u + 243u);
      }
    }
  }
  std::remove(list.c_str());
}

/// The twin: another seed gives other photons.
TEST_P(DeviceEngine, GivesOtherPhotonsForAnotherSeed) {
  const auto a = test::run_all(yaml(sphere, 200), {}, compute()),
             b = test::run_all(yaml(sphere, 200, "seed: 2\n"), {}, compute());
  int same = 0;
  for (std::size_t i = 0; i < a.photons.size(); ++i)
    same += a.photons[i].frequency_final == b.photons[i].frequency_final;
  EXPECT_LT(same, 20);
  EXPECT_FALSE(a.tally == b.tally);
}

/// In double precision, after the first 200 scatterings of a thick sphere. (All of them, in fact; the contract is 99
/// %.)
TEST_P(DeviceEngine, KeepsHistoriesInDoublePrecision) {
  const std::string text = yaml("type: shell, outer_radius: 1 kpc, temperature: 2e4 K, tau0: 1e6", 4000,
                                "precision: double\nlimits: {max_scatterings: 200}\n");
  const auto one_lane = test::run_all(text, {}, {nullptr, {}, {2, true, ""}}).photons;
  const auto photons = test::run_all(text, {}, compute()).photons;
  ASSERT_EQ(one_lane.size(), photons.size());
  int same = 0;
  for (std::size_t i = 0; i < photons.size(); ++i) {
    const Photon &p = photons[i], &q = one_lane[i];
    same += p.scatterings == q.scatterings && std::abs(p.frequency_final - q.frequency_final) < 1e-9 &&
            std::abs(p.position[0] - q.position[0]) < 1e-9;
  }
  EXPECT_GE(same, int(0.99 * double(photons.size())));
}

/// Independent runs on device and processor have the same distribution; a twin with a wrong optical depth does not.
TEST_P(DeviceEngine, AgreesInDistribution) {
  const auto spectrum = [&](const char* tau0, const char* precision, const char* seed, const Compute& where) {
    const std::string text = yaml("type: shell, outer_radius: 1 kpc, temperature: 2e4 K, tau0: " + std::string(tau0),
                                  8000, "precision: " + std::string(precision) + "\nseed: " + seed + "\n");
    std::vector<double> x;
    for (const Photon& p : test::run_all(text, {}, where).photons) {
      if (p.generator == 0) x.push_back(std::abs(p.frequency_final));
    }
    return x;
  };
  for (const char* precision : {"single", "double"}) {
    const auto here = spectrum("3e2", precision, "5", processor()), there = spectrum("3e2", precision, "6", compute());
    const auto wrong = spectrum("4.5e2", precision, "6", compute());
    EXPECT_GT(test::ks_p(test::ks_distance(here, there), 4000, 4000), 1e-3) << precision;
    EXPECT_LT(test::ks_p(test::ks_distance(here, wrong), 4000, 4000), 1e-6) << precision;
  }
}

/// Slightly more photons than the first slice may start, and few enough lanes to be handed over at once.
TEST_P(DeviceEngine, StartsEveryPhoton) {
  for (int photons = 126; photons <= 200; photons += 2) {
    device::Options few;
    few.lanes = 64;
    const std::string thin = "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 0.01";
    Compute where = compute(few);
    where.cpu.threads = 64;
    const auto outcome = test::run_all(yaml(thin, photons), {}, where);
    ASSERT_EQ(outcome.photons.size(), std::size_t(photons));
    ASSERT_TRUE(outcome.tally.conserves());
  }
}

TEST_P(DeviceEngine, CountsLostPhotons) {
  const auto outcome = test::run_all(yaml(sphere, 500, "limits: {max_scatterings: 20}\n"), {}, compute());
  EXPECT_GT(outcome.tally[Counter::lost], 100u);
  EXPECT_TRUE(outcome.tally.conserves());
}

/// Interrupted photons are still in flight; none is forgotten, and the run ends within about a slice.
TEST_P(DeviceEngine, StopsWhenAsked) {
  const auto config = config::parse(yaml("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e9", 5000,
                                         "acceleration: {core_skip: none}\n"),
                                    "test");
  const auto setup = build_setup(config);
  for (const bool with_sink : {true, false}) {
    Pool pool(0, setup.emitter.count(), 32);
    Control control;
    Tally tally = build_tally(config, setup);
    std::chrono::steady_clock::time_point asked;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      asked = std::chrono::steady_clock::now();
      pool.close();
      control.abort = true;
    });
    std::uint64_t seen = 0;
    Sink sink;
    if (with_sink) sink = [&](std::span<const Photon> batch) { seen += batch.size(); };
    run_problem(config, setup, pool, compute(), control, tally, sink);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
    EXPECT_GT(tally[Counter::in_flight], 0u);
    EXPECT_TRUE(tally.conserves());
    if (with_sink) {
      EXPECT_EQ(seen, tally[Counter::started]);
    }
    EXPECT_LT(seconds, 5);  // a slice is 0.025 s; the rest is for a busy machine
  }
}

/// After pool.close() no photon is started, and those in flight end.
TEST_P(DeviceEngine, DrainsAClosedPool) {
  const auto config = config::parse(yaml(sphere, 2000000), "test");
  const auto setup = build_setup(config);
  Pool pool(0, setup.emitter.count(), 32);
  Control control;
  Tally tally = build_tally(config, setup);
  device::Options few;
  few.lanes = 64;
  std::jthread closer([&] {
    while (control.finished < 100) std::this_thread::yield();
    pool.close();
  });
  run_problem(config, setup, pool, compute(few), control, tally, {});
  EXPECT_EQ(tally[Counter::in_flight], 0u);
  EXPECT_LT(tally.photons(), 2000000u);
  EXPECT_TRUE(tally.conserves());
}

/// Batches of other quanta, and those that a device has counted after a processor or before it.
TEST_P(DeviceEngine, CountsBatchesAsTheProcessorDoes) {
  const auto config = config::parse(yaml(media[1], 1200, "acceleration: {core_skip: none}\n"), "test");
  const auto setup = build_setup(config);
  const auto counted = [&](const std::vector<Compute>& hardware) {
    Tally tally = build_tally(config, setup);
    for (std::uint64_t i = 0; i < 3; ++i) {
      tally.next_batch(int(4 * i));
      Pool pool(400 * i, 400 * (i + 1), 32);
      Control control;
      run_problem(config, setup, pool, hardware[i], control, tally, {});
      EXPECT_EQ(control.finished, 400u);
    }
    return tally;
  };
  const Tally one = counted({processor(), processor(), processor()});
  EXPECT_EQ(one.photons(), 1200u);
  EXPECT_TRUE(one.conserves());
  EXPECT_TRUE(one == counted({compute(), compute(), compute()}));
  EXPECT_TRUE(one == counted({processor(), compute(), processor()}));
  EXPECT_FALSE(one == test::run_all(yaml(media[1], 1200), {}, processor()).tally) << "the twin: in the first quanta";
}

/// The gas is copied to a device once, and the photons of later batches are the same.
TEST(HostDevice, HasTheGasOfAllBatches) {
  const auto config = config::parse(yaml(sphere + ", cells: 20", 1200, "acceleration: {core_skip: none}\n"), "test");
  const auto setup = build_setup(config);
  std::size_t grid = 0;
  AnyDataset dataset = setup.medium.dataset;
  std::visit([&](auto& d) { for_each_array(d, [&](const void* data, std::size_t n) { return grid += n, data; }); },
             dataset);
  EXPECT_GT(grid, 20u * 20 * 20 * 4);
  test::HostDevice host;
  device::Options options;
  options.lanes = 64;
  const auto counted = [&](const Kernels& kernels) {
    Tally tally = build_tally(config, setup);
    std::vector<std::size_t> bytes;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::size_t before = host.copied_in;
      Pool pool(400 * i, 400 * (i + 1), 32);
      Control control;
      const Sink nobody;
      kernels.run({pool, control, tally, nobody});
      bytes.push_back(host.copied_in - before);
    }
    return std::pair(std::move(tally), bytes);
  };
  const auto [here, none] = counted(Kernels(config, setup, {nullptr, {}, {2, false, ""}}));
  const auto [there, bytes] = counted(Kernels(config, setup, {&host, options, {2, false, ""}}));
  EXPECT_TRUE(here == there);
  EXPECT_EQ(none, (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_GT(bytes[0], grid);
  EXPECT_LT(bytes[1], grid / 2);
  EXPECT_LT(bytes[2], grid / 2);
  host.shares_memory = true;
  const auto [in_place, few] = counted(Kernels(config, setup, {&host, options, {2, false, ""}}));
  EXPECT_TRUE(here == in_place);
  EXPECT_LT(few[0], bytes[0] - grid / 2);
}

TEST_P(DeviceEngine, PassesOnTheErrorOfASink) {
  const auto config = config::parse(yaml(sphere, 5000), "test");
  const auto setup = build_setup(config);
  Pool pool(0, setup.emitter.count(), 32);
  Control control;
  Tally tally = build_tally(config, setup);
  try {
    run_problem(config, setup, pool, compute(), control, tally,
                [](std::span<const Photon>) { throw Error(ExitCode::output, "full"); });
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::output);
  }
}

TEST_P(DeviceEngine, RefusesMoreLanesThanMemory) {
  if (GetParam() == std::string("host")) device_ = std::make_unique<test::HostDevice>(32u << 20);
  device::Options many;
  many.lanes = std::uint64_t(1) << 31;
  try {
    test::run_all(yaml(sphere, 100), {}, compute(many));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::device);
    for (const char* word : {"MB could not be allocated", "2147483648 photons", "MB are free", "--lanes"}) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
  EXPECT_TRUE(test::run_all(yaml(sphere, 100), {}, compute()).tally.conserves());  // and goes on
}

/// This test is last, since a real device is unusable for its process after a fault.
TEST_P(DeviceEngine, ZzReportsAFaultWithThePhotonsInFlight) {
  if (device_->info().is_processor || GetParam() == std::string("hip"))
    GTEST_SKIP() << "SKIPPED: a fault ends the program";
  device::Options options;
  options.fault = 1234, options.lanes = 128;
  try {
    test::run_all(yaml(sphere, 5000), {}, compute(options));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::device);
    unsigned long long first = 0, last = 0;
    const char* text = std::strstr(e.what(), "photons ");
    ASSERT_TRUE(text && std::sscanf(text, "photons %llu to %llu were in flight", &first, &last) == 2) << e.what();
    EXPECT_LE(first, 1234u);
    EXPECT_GE(last, 1234u);
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceEngine, testing::Values("host", "cuda", "hip", "sycl"),
                         [](const auto& info) { return std::string(info.param); });

/// Lanes in lockstep, in groups as wide as those of GPUs: the photons of one lane after the other, in every kind of
/// slice. A lane that leaves its group while the others vote is an error.
class Groups : public testing::TestWithParam<int> {};

TEST_P(Groups, GiveThePhotonsOfTheProcessor) {
  test::HostDevice host(std::size_t(1) << 40, GetParam());
  const Compute processor{nullptr, {}, {2, false, ""}};
  device::Options options;
  options.lanes = 150, options.stragglers = false;  // groups that are full, and one that is not
  const Compute together{&host, options, {2, false, ""}};
  for (const auto& medium : {media[1], media[3]}) {
    const std::string text = yaml(medium, 200);
    for (const auto& set : {std::vector<std::string>{"acceleration.core_skip=none"},
                            std::vector<std::string>{"acceleration.jumps=true", "dataset.tau0=1e5"},
                            with(observed, {"acceleration.core_skip=none", "peel.memory=1 MB"}),
                            with(observed, {"acceleration.jumps=true", "dataset.tau0=1e4", "peel.memory=1 MB",
                                            "peel.fuse={velocity: 8 km/s, distance: 0.4 kpc}"})}) {
      expect_identical(test::run_all(text, set, processor), test::run_all(text, set, together));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Groups, testing::Values(16, 32, 64),
                         [](const auto& info) { return std::to_string(info.param); });

/// A device with too little memory for the default lanes: fewer lanes and a warning, but the same photons.
TEST(SmallDevice, TakesFewerLanesWithAWarning) {
  test::HostDevice small(3u << 20);
  const std::string text = yaml(sphere, 40000);
  testing::internal::CaptureStderr();
  const auto outcome = test::run_all(text, {"outputs=[]"}, {&small, {}, {2, false, ""}});
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("trying 10000"), std::string::npos) << warning;
  EXPECT_TRUE(outcome.tally.conserves());
  EXPECT_EQ(outcome.photons.size(), 40000u);
}

/// The device that is the host is listed as those of src/thor/parallel are, so that what makes a backend is compiled
/// and run without a GPU.
TEST(Devices, AreThoseOfTheBackendsThatAreListed) {
  const auto names = device::backends();
  EXPECT_NE(std::ranges::find(names, "host"), names.end());
  EXPECT_EQ(names.front(), "cuda") << "and those that are not in this build are known";
  EXPECT_EQ(device::version("host"), "tests");
  EXPECT_EQ(device::open("host:0")->info().name, "no device");
  EXPECT_THROW(device::open("host:1"), Error);
  EXPECT_EQ(device::choices(), "auto, cpu, cuda, cuda:1, hip, hip:1, sycl, sycl:1, host, host:1, ...");
}

TEST(Devices, UnknownOnesAreRefusedWithTheAlternatives) {
  const auto code_of = [](const char* name) {
    try {
      device::open(name);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("cpu"), std::string::npos) << e.what();
      return e.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code_of("opencl"), ExitCode::usage);
  EXPECT_EQ(code_of("cuda:99"), ExitCode::device);
  EXPECT_EQ(code_of("cuda:x"), ExitCode::device);
  EXPECT_EQ(code_of("cuda:-1"), ExitCode::device);
}

}  // namespace device_test
