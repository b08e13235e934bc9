#include "thor/drivers/mcrt/batches.hpp"

#include "support/run.hpp"

/// Samples that grow: which photons they have, and that they do not depend on how they grew.
namespace {

using namespace thor;

std::string yaml(int first, int second) {
  return fmt::format(
      "line: Lya\ndataset: {{type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 10, dust: {{tau: 0.5}}}}\n"
      "generators: [{{type: point, photons: {}, luminosity: 3e41 erg/s}}, {{type: extended, shape: medium, photons: "
      "{}, "
      "luminosity: 7e41 erg/s}}]\n"
      "acceleration: {{core_skip: none}}\n"
      "observers: [{{name: o, direction: [1, 2, 3]}}]\n"
      "outputs: [{{type: spectrum, name: s, range: [-100 km/s, 100 km/s], bins: 20}},\n"
      "  {{type: image, name: i, observer: o, width: 2 kpc, pixels: 8}}]\noutput: {{path: x.h5}}\n",
      first, second);
}

const comm::World alone{comm::World::Alone{}};

/// What a run of this configuration has counted, its ids being run up to each of the ends in turn.
Sample grown(int first, int second, const std::vector<std::uint64_t>& ends, int threads = 1, int octave = 0) {
  const auto config = config::parse(yaml(first, second), "test");
  auto setup = build_setup(config);
  Sample sample = build_sample(config, setup);
  if (octave > 0) sample.first_octave = octave;
  setup.emitter = for_one_photon(setup.emitter);
  Watch watch(ProgressMode::never, {});
  const Compute compute{nullptr, {}, {threads, false, ""}};
  const Sink nobody;
  for (const std::uint64_t end : ends) {
    EXPECT_TRUE((Batches{Kernels(config, setup, compute), watch, nobody, alone}.run(sample, end, true)));
    EXPECT_EQ(sample.next, end);
  }
  return sample;
}

TEST(Batches, GrowToWhatOneLongRunHas) {
  const Tally one = grown(900, 300, {1200}).tally;
  EXPECT_TRUE(one == grown(900, 300, {400, 401, 1200}).tally);
  EXPECT_TRUE(one == grown(900, 300, {800, 1200}, 3).tally);
  EXPECT_TRUE(one == grown(3, 1, {1200}, 2).tally) << "the same shares, whatever the number that was asked for";
  EXPECT_TRUE(one == grown(75, 25, {500, 1200}, 2).tally);
  EXPECT_FALSE(one == grown(900, 300, {1199}).tally);
  EXPECT_FALSE(one == grown(900, 301, {1200}).tally) << "the twin: other shares";
  EXPECT_EQ(one.photons(), 1200u);
}

TEST(Batches, QuantaDependOnTheIdAlone) {
  const Tally one = grown(3, 1, {1200}, 1, 6).tally;
  EXPECT_TRUE(one == grown(3, 1, {10, 64, 65, 700, 1200}, 2, 6).tally);
  EXPECT_FALSE(one == grown(3, 1, {1200}, 1, 5).tally) << "the twin: others";
}

TEST(Batches, EndWhereQuantaChange) {
  const auto config = config::parse(yaml(3, 1), "test");
  Sample sample = build_sample(config, build_setup(config));
  EXPECT_EQ(sample.first_octave, 30);
  sample.first_octave = 4;
  EXPECT_EQ(sample.doublings(0), 0);
  EXPECT_EQ(sample.doublings(15), 0);
  EXPECT_EQ(sample.doublings(16), 1);
  EXPECT_EQ(sample.doublings(127), 3);
  const auto parts = sample.octaves({3, 70});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].end, 16u);
  EXPECT_EQ(parts[1].end, 32u);
  EXPECT_EQ(parts[2].end, 64u);
  EXPECT_EQ(parts[3].end, 70u);
  EXPECT_TRUE(sample.octaves({5, 5}).empty());
}

TEST(Batches, KnowWhatIsMissing) {
  const auto config = config::parse(yaml(3, 1), "test");
  Sample sample = build_sample(config, build_setup(config));
  sample.put_back({{70, 80}, {10, 12}, {80, 100}, {40, 50}}, 100);
  EXPECT_EQ(sample.next, 70u);
  ASSERT_EQ(sample.missing.size(), 2u);
  EXPECT_EQ(sample.missing[0].next, 10u);
  EXPECT_EQ(sample.missing[1].end, 50u);
  sample.put_back({}, 100);
  EXPECT_EQ(sample.next, 100u);
  EXPECT_TRUE(sample.missing.empty());
}

/// A run that is closed in the middle goes on later with the photons that are missing.
TEST(Batches, GoOnAfterACut) {
  const auto config = config::parse(yaml(9000, 3000), "test");
  auto setup = build_setup(config);
  Sample sample = build_sample(config, setup);
  setup.emitter = for_one_photon(setup.emitter);
  const Compute compute{nullptr, {}, {3, false, ""}};
  const Sink nobody;
  {
    Pool pool(0, 12000, 48);
    Control control;
    run_problem(config, setup, pool, compute, control, sample.tally, [&](auto photons) {
      if (!photons.empty() && photons.back().id > 1000) pool.close();
    });
    sample.put_back(pool.left(), 12000);
  }
  ASSERT_LT(sample.tally.photons(), 12000u);
  Watch watch(ProgressMode::never, {});
  EXPECT_TRUE((Batches{Kernels(config, setup, compute), watch, nobody, alone}.run(sample, 12000, true)));
  EXPECT_TRUE(sample.tally == grown(3, 1, {12000}, 2).tally);
}

/// Photons that were not started are run, wherever they are, and no other twice.
TEST(Batches, RunWhatIsMissing) {
  const auto config = config::parse(yaml(900, 300), "test");
  auto setup = build_setup(config);
  Sample sample = build_sample(config, setup);
  setup.emitter = for_one_photon(setup.emitter);
  const Compute compute{nullptr, {}, {1, false, ""}};
  const Sink nobody;
  for (const auto& [first, end] : {std::pair(0, 500), std::pair(700, 900), std::pair(903, 1000)}) {
    Pool pool(std::uint64_t(first), std::uint64_t(end), 16);
    Control control;
    run_problem(config, setup, pool, compute, control, sample.tally, nobody);
  }
  sample.put_back({{500, 700}, {900, 903}, {1000, 1200}}, 1200);
  EXPECT_EQ(sample.next, 1000u);
  EXPECT_EQ(sample.missing.size(), 2u);
  Watch watch(ProgressMode::never, {});
  EXPECT_TRUE((Batches{Kernels(config, setup, compute), watch, nobody, alone}.run(sample, 1200, true)));
  EXPECT_TRUE(sample.missing.empty());
  EXPECT_TRUE(sample.tally == grown(3, 1, {1200}).tally);
}

}  // namespace
