#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "support/run.hpp"
#include "support/statistics.hpp"
#include "thor/generators/source_list.hpp"

/// Dealing of photons over generators and sources: the first photons, however many, are a fair sample of all.
namespace {

using namespace thor;

/// Emitter of generators with these numbers of photons.
std::vector<Source<double>> generators(const std::vector<std::uint64_t>& photons) {
  std::vector<Source<double>> sources(photons.size());
  std::uint64_t rest = std::accumulate(photons.begin(), photons.end(), 0ull);
  for (std::size_t i = 0; i < photons.size(); ++i) {
    sources[i].photon_share = fraction64(photons[i], rest);
    rest -= photons[i];
  }
  return sources;
}

TEST(Dealing, EveryPrefixHasTheSharesOfTheGenerators) {
  const std::vector<std::uint64_t> cases[] = {{5},       {1, 1},    {3, 1},          {1, 1000}, {7, 3, 100, 1},
                                              {4, 0, 9}, {1000, 1}, {33, 33, 33, 1}, {9, 0}};
  for (const auto& photons : cases) {
    const auto sources = generators(photons);
    const auto all = double(std::accumulate(photons.begin(), photons.end(), 0ull));
    const EmitterView<double> view{1, sources.data(), int(sources.size())};
    std::vector<std::uint64_t> seen(photons.size());
    for (std::uint64_t id = 0; id < std::uint64_t(3 * all); ++id) {
      ++seen[std::size_t(source_of_photon(view, id).generator)];
      for (std::size_t g = 0; g < photons.size(); ++g) {
        ASSERT_NEAR(double(seen[g]), double(id + 1) * double(photons[g]) / all, 2) << id << " of generator " << g;
      }
      if (id + 1 == std::uint64_t(all)) {
        ASSERT_EQ(seen, photons) << "as many as requested";
      }
    }
  }
}

/// Numbers that do not fit in 32 bits.
TEST(Dealing, LargeNumbers) {
  const std::uint64_t many = 1ull << 61;
  const auto sources = generators({many, 2 * many / 3, 5});
  const EmitterView<double> view{1, sources.data(), 3};
  int first = 0;
  for (std::uint64_t id = many; id < many + 1000; ++id) first += source_of_photon(view, id).generator == 0;
  EXPECT_NEAR(first, 600, 2);
}

/// Table of `rows` sources in a shell, row i with luminosity i + 1.
class Lights {
 public:
  explicit Lights(int rows) : path_(testing::TempDir() + "thor_lights_" + std::to_string(getpid()) + ".txt") {
    std::ofstream file(path_);
    file << "# x[kpc] y[kpc] z[kpc] luminosity[erg/s]\n";
    for (int i = 0; i < rows; ++i) file << fmt::format("{} 0 0 {}\n", 0.5 * i / rows, (i + 1) * 1e40);
  }
  ~Lights() { std::remove(path_.c_str()); }
  std::string yaml(const std::string& point, const std::string& list, const std::string& more = "") const {
    return "line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 30}\n"
           "generators: [{type: point, luminosity: 3e41 erg/s, photons: " +
           point + "}, {type: sources, path: " + path_ + ", " + list +
           "}]\nacceleration: {core_skip: none}\noutput: {path: x.h5}\n" + more;
  }

 private:
  std::string path_;
};

/// p-value for the first photons to have the shares of 50 sources, where row i has light((i) + 1).
double p_of_shares(std::span<const Photon> photons, const std::function<double(int)>& light) {
  double all = 0, chi2 = 0;
  std::vector<double> seen(50, 0.);
  for (int i = 0; i < 50; ++i) all += light(i);
  double count = 0;
  for (const Photon& p : photons) {
    if (p.generator == 1) ++seen[p.source], ++count;
  }
  for (int i = 0; i < 50; ++i) {
    const double expected = count * light(i) / all;
    chi2 += (seen[std::size_t(i)] - expected) * (seen[std::size_t(i)] - expected) / expected;
  }
  return test::chi_square_p(chi2, 49);
}

TEST(Dealing, HalfARunIsAFairSample) {
  const Lights lights(50);
  for (const char* list : {"photons: 4000", "photons_per_1e42: 313.7, max_photons: 10000"}) {
    const auto photons = test::run(lights.yaml("2000", list));
    ASSERT_NEAR(double(photons.size()), 6000, 10);
    for (const std::size_t part : {std::size_t(1500), photons.size() / 2, photons.size()}) {
      const std::span<const Photon> some(photons.data(), part);
      const auto points = std::ranges::count_if(some, [](const Photon& p) { return p.generator == 0; });
      EXPECT_NEAR(double(points), double(part) / 3, 3) << list;
      EXPECT_GT(p_of_shares(some, [](int i) { return i + 1.; }), 0.5) << list << part << ", more even than chance";
      EXPECT_LT(p_of_shares(some, [](int i) { return 50. - i; }), 1e-6) << "the twin: the other way round";
    }
    // The twin: in the order of the sources, as interrupted runs used to have it.
    auto sorted = photons;
    std::ranges::stable_sort(sorted, {}, [](const Photon& p) { return p.generator * 1000 + int(p.source); });
    EXPECT_LT(p_of_shares({sorted.data(), sorted.size() / 2}, [](int i) { return i + 1.; }), 1e-6);
  }
}

/// A run closed after a few thousand photons, as by a signal.
TEST(Dealing, ACutRunIsAFairSample) {
  const Lights lights(50);
  const auto config = config::parse(lights.yaml("200000", "photons: 400000"), "test");
  const auto setup = build_setup(config);
  Pool pool(0, setup.emitter.count(), 32);
  Control control;
  Tally tally = build_tally(config, setup);
  std::vector<Photon> photons;
  run_problem(config, setup, pool, {nullptr, {}, {2, false, ""}}, control, tally, [&](std::span<const Photon> batch) {
    photons.insert(photons.end(), batch.begin(), batch.end());
    if (photons.size() > 5000) pool.close();
  });
  ASSERT_LT(photons.size(), 50000u);
  EXPECT_EQ(tally[Counter::in_flight], 0u);
  EXPECT_TRUE(tally.conserves());
  const double share = tally.light(0, GeneratorCounter::light_emitted) / tally.light(Counter::light_emitted);
  EXPECT_NEAR(share, 3e41 / (3e41 + 1275e40), 5e-4);
  EXPECT_GT(p_of_shares(photons, [](int i) { return i + 1.; }), 0.5);
  EXPECT_LT(p_of_shares(photons, [](int i) { return 50. - i; }), 1e-6);
}

/// Photons of a run are the first ones of a run of twice as many.
TEST(Dealing, DoesNotDependOnHowManyAreAskedFor) {
  const Lights lights(50);
  const auto some = test::run(lights.yaml("300", "photons: 700")),
             more = test::run(lights.yaml("600", "photons: 1400"));
  ASSERT_EQ(some.size(), 1000u);
  ASSERT_EQ(more.size(), 2000u);
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(some[i].generator, more[i].generator);
    ASSERT_EQ(some[i].source, more[i].source);
    ASSERT_EQ(some[i].scatterings, more[i].scatterings);
    ASSERT_EQ(some[i].frequency_final, more[i].frequency_final);
    ASSERT_EQ(some[i].position[0], more[i].position[0]);
    ASSERT_NEAR(some[i].weight / more[i].weight, 2, 1e-12);
  }
  int same = 0;  // the twin: other shares
  const auto others = test::run(lights.yaml("600", "photons: 700"));
  for (std::size_t i = 0; i < some.size(); ++i) same += some[i].frequency_final == others[i].frequency_final;
  EXPECT_LT(same, 900);
}

TEST(Dealing, WeightsSumUpToTheLuminosity) {
  const Lights lights(50);
  for (const char* list : {"photons: 711", "photons_per_1e42: 50", "photons_per_1e42: 3, min_photons: 7"}) {
    const auto out = test::run_all(lights.yaml("300", list), {}, {});
    double point = 0, rest = 0;
    for (const Photon& p : out.photons) (p.generator == 0 ? point : rest) += p.weight;
    EXPECT_NEAR(point / 3e41, 1, 1e-12);
    EXPECT_NEAR(rest / (1275 * 1e40), 1, 1e-12) << list;
    EXPECT_NEAR(out.tally.light(Counter::light_emitted) / (point + rest), 1, 1e-12);
  }
}

TEST(Dealing, CountsPerLuminosityAreExact) {
  const Lights lights(50);
  std::vector<int> seen(50);
  for (const Photon& p : test::run(lights.yaml("10", "photons_per_1e42: 100, min_photons: 5, max_photons: 40"))) {
    if (p.generator == 1) ++seen[p.source];
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(seen[std::size_t(i)], std::clamp(i + 1, 5, 40)) << i;
}

/// A source that has less than a photon in one run has its share on average over seeds.
TEST(Dealing, IsUnbiasedForFaintSources) {
  const Lights lights(50);
  const auto mean = [&](int photons) {
    double sum = 0;
    const auto base = config::parse(lights.yaml("1", "photons: " + std::to_string(photons)), "test");
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      auto config = base;
      config.seed = seed;
      const auto setup = build_setup(config);
      for (std::uint64_t id = 0; id < setup.emitter.count(); ++id) {
        const PhotonSource place = source_of_photon(setup.emitter.view(), id);
        sum += place.generator == 1 && place.index < 10 ? 1. / 500 : 0;
      }
    }
    return sum;
  };
  const double share = 55. / 1275;  // share of the ten faintest
  const double seen = mean(5), error = std::sqrt(5 * share / 500);
  EXPECT_NEAR(seen, 5 * share, 4 * error);
  EXPECT_GT(std::abs(seen - 10 * share), 4 * error) << "the twin: twice the share";
}

TEST(Dealing, ReplaysAPhotonOfASource) {
  const Lights lights(50);
  const std::string text = lights.yaml("30", "photons: 70");
  const auto photons = test::run(text);
  const auto config = config::parse(text, "test");
  const auto setup = build_setup(config);
  for (const std::uint64_t id : {0u, 17u, 99u}) {
    const Photon p = replay(config, setup, id, {1, false, ""});
    EXPECT_EQ(p.generator, photons[id].generator);
    EXPECT_EQ(p.source, photons[id].source);
    EXPECT_EQ(p.frequency_final, photons[id].frequency_final);
    EXPECT_EQ(p.weight, photons[id].weight);
  }
}

}  // namespace
