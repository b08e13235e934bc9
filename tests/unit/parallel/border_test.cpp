#include "thor/parallel/border.hpp"

#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/host_device.hpp"
#include "support/octree.hpp"
#include "support/run.hpp"
#include "thor/comm/dealer.hpp"
#include "thor/random/seed.hpp"

/// Photons that travel between the parts of a mesh, all of which this process holds. With a sanitizer this is the test
/// of the threads of a run on domains.
namespace {

using namespace thor;

test::GridOptions random_gas(bool periodic) {
  test::GridOptions o;
  o.shape = {9, 8, 7};
  o.periodic = periodic, o.dust = o.emissivity = true, o.hubble = periodic ? 3e-14 : 0;
  o.gas = [](int x, int y, int z) {
    const std::uint64_t random = mix64(std::uint64_t((x * 100 + y) * 100 + z));
    const double n = 1e-8 * double(1 + random % 99);
    return test::GridCell{n, 1e4, {double(random % 81) - 40, 0, double(random % 31)}, 300 * n, 1e-18 * n};
  };
  return o;
}

/// As test::run_all, cut into domains.
test::Outcome run_on(const config::Config& config, const DomainOptions& domains, const Compute& compute) {
  const Setup setup = build_setup(config, {choose_line(config), outline_medium(config.dataset, choose_line(config))},
                                  compute.cpu.threads, domains);
  const comm::World& world = world_of(domains);
  comm::Dealer dealer(world, {0, setup.emitter.count()}, domains.border.in_flight);
  Pool pool([] { return Pool::Block{}; }, 16);
  Control control;
  test::Outcome outcome{{}, build_tally(config, setup)};
  const Kernels kernels(config, setup, compute);
  const Sink sink = [&](std::span<const Photon> batch) {
    outcome.photons.insert(outcome.photons.end(), batch.begin(), batch.end());
  };
  const BorderTimes times = kernels.run(dealer, domains, {pool, control, outcome.tally, sink});
  EXPECT_EQ(times.messages, 0u) << "all parts are here";
  EXPECT_EQ(dealer.finish().next, setup.emitter.count());
  EXPECT_EQ(control.finished, setup.emitter.count());
  std::ranges::sort(outcome.photons, {}, &Photon::id);
  return outcome;
}

struct Gas {
  const char* name;
  const char* type;
  bool periodic;
};

class Borders : public testing::TestWithParam<Gas> {
 protected:
  Borders() : gas_(random_gas(GetParam().periodic)) {
    const std::string type = GetParam().type;
    if (type == "uniform_grid") {
      grid_.emplace(gas_);
    } else {
      const auto leaves = test::leaves_of(4, [](const OctreeLeaf& leaf) {
        return leaf.level < 2 || (leaf.at[0] * 3 + leaf.at[1] * 5 + leaf.at[2]) % 3 == 0;
      });
      cells_.emplace(gas_, leaves, type == "octree" ? test::CellsAs::leaves : test::CellsAs::sites);
    }
  }

  config::Config config(const std::vector<std::string>& set) const {
    const std::string text = fmt::format(
        "line: Lya\ndataset: {{type: {}, path: {}, dust: {{law: SMC}}{}}}\n"
        "generators: [{{type: gas, emission: recombination, photons: 150}},\n"
        "  {{type: point, photons: 100, luminosity: 1e40 erg/s}}]\n"
        "outputs: [{{type: spectrum, name: v, axis: velocity, range: [-200 km/s, 200 km/s], bins: 50}}]\n"
        "output: {{path: x.h5}}\n",
        GetParam().type, grid_ ? grid_->path() : cells_->path(), GetParam().periodic ? ", stop_shift: 1 Angstrom" : "");
    return config::parse(text, "test", set);
  }
  void expect_same(const std::vector<std::string>& set, const std::function<Compute(int threads)>& compute,
                   const std::vector<std::uint64_t>& in_flights = {3, 1u << 18}) {
    SCOPED_TRACE(set.empty() ? "" : set.back());
    const config::Config whole = config(set);
    const thor::Setup setup = build_setup(whole);
    Pool pool(0, setup.emitter.count(), 16);
    Control control;
    Tally tally = build_tally(whole, setup);
    std::vector<Photon> photons;
    run_problem(whole, setup, pool, {nullptr, {}, {2, false, ""}}, control, tally,
                [&](std::span<const Photon> batch) { photons.insert(photons.end(), batch.begin(), batch.end()); });
    std::ranges::sort(photons, {}, &Photon::id);
    for (const int count : {2, 7}) {
      for (const std::uint64_t in_flight : in_flights) {
        DomainOptions domains;
        domains.count = count, domains.margin = count % 2, domains.border.in_flight = in_flight;
        test::Outcome parts = run_on(whole, domains, compute(count == 2 ? 1 : 3));
        parts.tally.join_histories(comm::World(comm::World::Alone()), 2);
        ASSERT_EQ(parts.photons.size(), photons.size());
        for (std::size_t i = 0; i < photons.size(); ++i) {
          const Photon &p = parts.photons[i], &q = photons[i];
          ASSERT_EQ(p.id, q.id);
          ASSERT_EQ(p.fate, q.fate) << i;
          ASSERT_EQ(p.scatterings, q.scatterings) << i;
          ASSERT_EQ(p.frequency_final, q.frequency_final) << i;
          ASSERT_EQ(p.position[1], q.position[1]) << i;
        }
        EXPECT_TRUE(parts.tally == tally) << count << " domains, " << in_flight << " in flight";
      }
    }
  }

  const test::GridOptions gas_;
  std::optional<test::GridFile> grid_;
  std::optional<test::OctreeFile> cells_;
};

const std::vector<std::string> observed{"observers=[{name: o, direction: [1, 2, 3]}]",
                                        "outputs=[{type: image, name: i, observer: o, width: 1 kpc, pixels: 9}]"};

TEST_P(Borders, ChangeNoPhotonOfTheProcessor) {
  const auto processor = [](int threads) { return Compute{nullptr, {}, {threads, false, ""}}; };
  expect_same({}, processor);
  expect_same({"precision=double", "acceleration={jumps: false, core_skip: local}"}, processor);
  expect_same(observed, processor);
}

/// Also with lanes that are too few for the photons, and more of them than there are.
TEST_P(Borders, ChangeNoPhotonOfADevice) {
  test::HostDevice device;
  for (const std::uint64_t lanes : {5, 64, 4000}) {
    const auto compute = [&](int threads) {
      device::Options options;
      options.lanes = lanes;
      if (lanes == 64) options.slice = 1e-9;  // of one step each, as on a machine that is busy
      return Compute{&device, options, {threads, false, ""}};
    };
    expect_same({}, compute);
    if (lanes == 64) expect_same({"precision=double", "acceleration={jumps: false, core_skip: local}"}, compute);
  }
}

/// Photons are born while it is busy: those that wait here when their part is left belong to it still.
TEST_P(Borders, ChangeNoPhotonOfASlowDevice) {
  test::HostDevice device;
  device.slowness = std::chrono::milliseconds(3);
  device::Options options;
  options.lanes = 4000;
  expect_same({}, [&](int threads) { return Compute{&device, options, {threads, false, ""}}; }, {20});
}

/// With little memory for events and rays, so that lanes pause, and with more observers than steps look at.
TEST_P(Borders, ChangeNoRayOfADevice) {
  test::HostDevice device;
  const auto compute = [&](int threads) { return Compute{&device, {}, {threads, false, ""}}; };
  std::vector<std::string> little = observed;
  little.emplace_back("peel={memory: 1 MB, roulette: 30}");
  expect_same(little, compute);
  little.insert(little.end(), {"precision=double", "acceleration={jumps: false, core_skip: local}"});
  expect_same(little, compute);
  std::string many = "observers=[";
  for (int i = 0; i < 18; ++i) many += fmt::format("{}{{name: o{}, direction: [1, {}, 3]}}", i ? ", " : "", i, i - 9);
  expect_same(
      {many + "]", "outputs=[{type: image, name: i, observer: o3, width: 1 kpc, pixels: 9}]", "peel={memory: 4 MB}"},
      compute);
}

/// A device with memory for some of the parts has each for as long as photons are there.
TEST_P(Borders, TakePartsInTurnOnASmallDevice) {
  const config::Config whole = config({"acceleration={jumps: false}"});
  DomainOptions domains;
  domains.count = 4, domains.border.in_flight = 1000;
  const auto uploaded = [&](std::size_t memory) {
    test::HostDevice device(memory);
    device::Options options;
    options.lanes = 32;
    const test::Outcome outcome = run_on(whole, domains, {&device, options, {1, false, ""}});
    return std::pair(outcome.photons.size(), device.allocated);
  };
  const auto [photons, bytes] = uploaded(std::size_t(1) << 40);
  EXPECT_EQ(photons, 250u);
  for (std::size_t memory = 10000;; memory += memory / 10) {  // about the smallest that will do
    try {
      const auto [photons_of_small, bytes_of_small] = uploaded(memory);
      EXPECT_EQ(photons_of_small, photons);
      EXPECT_GT(bytes_of_small, bytes) << memory;
      break;
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), ExitCode::device) << e.what();
    }
  }
}

TEST_P(Borders, TellOfADeviceThatIsTooSmall) {
  const config::Config whole = config({});
  DomainOptions domains;
  domains.count = 2, domains.border.in_flight = 1000;
  for (const auto& [memory, said] : {std::pair(std::size_t(1000), "photons in flight"), {30000, "a part of the gas"}}) {
    test::HostDevice device(memory);
    device::Options options;
    options.lanes = 32;
    try {
      run_on(whole, domains, {&device, options, {1, false, ""}});
      FAIL() << "there is enough";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::device);
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Borders,
                         testing::Values(Gas{"OfAnOpenBox", "uniform_grid", false},
                                         Gas{"OfAPeriodicBox", "uniform_grid", true}, Gas{"OfAnOctree", "octree", true},
                                         Gas{"OfSites", "voronoi", false}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
