#include "thor/outputs/tally.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "support/run.hpp"

/// How light is counted: contributions of one history, private and shared entries, what is rounded.
namespace tally_test {

using namespace thor;

/// Entries in the order of a plan, and shares that wait.
struct Entries {
  std::vector<std::uint64_t>& entries;
  std::vector<Share>& shares;
  std::uint64_t add(std::int64_t i, std::uint64_t value) const {
    return std::exchange(entries.at(std::size_t(i)), entries.at(std::size_t(i)) + value);
  }
  void join(std::uint64_t id, std::int64_t entry, std::uint64_t share) const { shares.push_back({id, entry, share}); }
};

Bins bins(std::int64_t count, double quanta_per_light, bool joined = false) {
  Bins b{.count = count};
  b.joined = joined, b.quanta_per_light = quanta_per_light;
  return b;
}
BinSums sums_in(const std::vector<std::uint64_t>& entries, std::size_t bin) {
  return {entries[4 * bin], entries[4 * bin + 1], entries[4 * bin + 2], entries[4 * bin + 3]};
}

/// An output whose photons each add to a bin several times, all their contributions being as bright as the photon: the
/// error of the sum of many such photons, as one run estimates it, over the scatter of the sums of many runs.
struct Ratios {
  double by_history, naive;
};
Ratios error_ratios() {
  constexpr int runs = 400, photons = 640;
  constexpr double unit = 0x1p32;
  std::mt19937 random(7);
  std::exponential_distribution<double> brightness(1);
  std::poisson_distribution<int> times(5);
  const Bins joined = bins(4, unit, true), each = bins(4, unit);
  double sum = 0, sum_of_squares = 0, by_history = 0, naive = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<std::uint64_t> a(std::size_t(joined.entries())), b(a.size());
    std::vector<Share> shares, none;
    Entries entries_a{a, shares}, entries_b{b, none};
    for (std::uint64_t id = 0; id < photons; ++id) {
      const double light = brightness(random);
      for (int i = times(random); i >= 0; --i) {
        Contributions(joined, id, entries_a).add(2, light);
        Contributions(each, id, entries_b).add(2, light);
      }
      Contributions(joined, id, entries_a).add(std::int64_t(id) % 2, 1e-3);  // another bin in between
    }
    join(shares);
    for (const Share& s : shares) add_sums(entries_a, s.entry, sums_of(s.share, s.id));
    const BinError bin = error_of(sums_in(a, 2), 1e9), alone = error_of(sums_in(b, 2), 1e9);
    EXPECT_NEAR(alone.light, bin.light, 1e-6 * bin.light);
    sum += bin.light / unit, sum_of_squares += std::pow(bin.light / unit, 2);
    by_history += std::pow(bin.error / unit, 2), naive += std::pow(alone.error / unit, 2);
  }
  const double variance = sum_of_squares / runs - std::pow(sum / runs, 2);
  const auto ratio = [&](double squares) { return std::sqrt(squares / runs / variance); };
  return {ratio(by_history), ratio(naive)};
}

// The error of sqrt(sum s^2) is that of a Poisson number of photons: here their number is fixed, which makes the true
// one smaller by 1 - <s>^2/<s^2>, with <s> = 6 and <s^2> = 2 x 41 in units of the mean brightness.
TEST(Contributions, OfOneHistoryAreAddedBeforeTheyAreSquared) {
  const Ratios ratios = error_ratios();
  const double expected = 1 / std::sqrt(1 - 36. / 82);
  EXPECT_NEAR(ratios.by_history, expected, 0.07);  // 400 runs know the true one to 3.5 %
  EXPECT_LT(ratios.naive, 0.65) << "contributions taken as independent: the twin";
}

/// The sums of `count` photons with light `of(i)` each, against those in double precision.
struct Summed {
  double light, error, vov;  ///< as they are over as they should be
};
Summed summed(int count, const std::function<double(int)>& of) {
  constexpr double unit = 0x1p32;
  std::vector<std::uint64_t> a(std::size_t(bins(1, unit).entries()));
  std::vector<Share> none;
  Entries entries{a, none};
  double light = 0, squares = 0, fourths = 0;
  for (int i = 0; i < count; ++i) {
    const double s = of(i);
    Contributions(bins(1, unit), std::uint64_t(i), entries).add(0, s);
    light += s, squares += s * s, fourths += s * s * s * s;
  }
  const BinError bin = error_of(sums_in(a, 0), 1e300);
  return {bin.light / unit / light, bin.error / unit / std::sqrt(squares), bin.vov / (fourths / (squares * squares))};
}

// What outputs/binned.hpp promises, for photons from 2e-4 to 1e6 units, for 20 of them and for very many.
TEST(Contributions, SumsAreGoodForFaintAndForBrightPhotons) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> part(0.5, 1.5);
  for (const double scale : {2e-4, 1e-3, 1., 1e3, 1e5}) {
    const Summed s = summed(20, [&](int) { return scale * part(random); });
    EXPECT_NEAR(s.light, 1, 1e-5) << scale;
    EXPECT_NEAR(s.error, 1, 1e-3) << scale;
    EXPECT_NEAR(s.vov, 1, scale < 1e3 ? 0.1 : 1e6) << scale;
  }
  EXPECT_NEAR(summed(20, [&](int) { return 2e-6 * part(random); }).error, 1, 3e-3);
  const Summed wide = summed(100000, [&](int) { return std::pow(10., 4 * part(random) - 6); });  // over four decades
  EXPECT_NEAR(wide.light, 1, 1e-7);
  EXPECT_NEAR(wide.error, 1, 1e-6);
  EXPECT_NEAR(wide.vov, 1, 1e-4);
  EXPECT_NEAR(summed(10, [](int) { return 1e8; }).error, std::sqrt(10.), 1e-6) << "no room: the error is all light";
}

TEST(Contributions, SumsHaveCarries) {
  std::vector<std::uint64_t> a(4), b(4);
  std::vector<Share> none;
  Entries one{a, none}, many{b, none};
  const BinSums sums{~0ull - 5, ~0ull - 5, ~0ull - 5, (3ull << 54) + (7ull << 32) + 9};
  for (int i = 0; i < 5; ++i) add_sums(one, 0, sums);
  for (int i = 0; i < 2; ++i) add_sums(many, 0, sums);
  BinSums part{b[0], b[1], b[2], b[3]};
  add_sums(many, 0, part), add_sums(many, 0, sums);
  EXPECT_EQ(a, b) << "whatever the order";
  EXPECT_EQ(a[3], (19ull << 54) + (39ull << 32) + 49) << "five times each, and four carries";
  const BinSums full{0, 0, 0, full_square + full_fourth};
  for (int i = 0; i < 9; ++i) add_sums(one, 0, full);
  EXPECT_EQ(a[3] >> 54, 19u) << "a sum that is full leaves its neighbours alone";
  EXPECT_EQ(a[3] >> 32 & 0x3fffff, 0x200000u + 39) << "and stays";
}

OutputContext context() {
  return {[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }, 1};
}
SpectrumOutput spectrum(const std::string& name, std::uint64_t bins) {
  return {name, config::Fate::escaped, config::Axis::x, -2, 2, bins};
}

/// Photons of many weights, frequencies and fates, started and ended.
template <class Counter>
void count_some(Counter& counter, int first, int last) {
  for (int i = first; i < last; ++i) {
    Photon p{};
    p.id = std::uint64_t(i), p.weight = p.weight_initial = 1 + i % 7, p.frequency_final = (i % 1001) / 250. - 2.1;
    p.fate = i % 3 == 0 ? Phase::absorbed : Phase::escaped, p.scatterings = i % 13, p.steps = 2;
    counter.start(p.weight, p.weight, 0);
    counter.accept(p);
  }
}

/// Photons and light of the generators that an output counts, and errors of a sample whose size is theirs.
TEST(Tally, OutputsOfGeneratorsAddUp) {
  const auto spectrum = [](const char* name, const char* generator) {
    SpectrumOutput output{name, config::Fate::escaped, config::Axis::x, -1, 1, 2};
    output.generator = generator;
    return output;
  };
  OutputContext context{[](const std::string&) { return FrequencyAxis{1e6, 1215.67e-8}; }};
  context.generators = {"gas", "gas", "stars"};
  Tally tally({spectrum("all", ""), spectrum("gas", "gas"), spectrum("stars", "stars")}, context, 100, 100, 3);
  for (int i = 0; i < 30; ++i) {
    Photon photon{};
    photon.id = std::uint64_t(i), photon.generator = i % 3,
    photon.weight = photon.weight_initial = 1 + photon.generator;
    photon.frequency_final = i % 2 ? 0.5 : -0.5, photon.fate = Phase::escaped;
    tally.start(photon.weight, photon.weight, photon.generator);
    tally.accept(photon);
  }
  const auto all = tally.binned(0), gas = tally.binned(1), stars = tally.binned(2);
  for (std::size_t bin = 0; bin < 2; ++bin) {
    EXPECT_NEAR(gas.light[bin], 15, 1e-12);
    EXPECT_NEAR(stars.light[bin], 15, 1e-12);
    EXPECT_NEAR(all.light[bin], 30, 1e-12);
    EXPECT_NEAR(stars.error(bin), 3 * std::sqrt(5.), 1e-6);
  }
  EXPECT_NEAR(stars.total_error, 0, 1e-6) << "all of 10 photons, each of weight 3, are in the range";
  EXPECT_NEAR(gas.total_error, std::sqrt(10 * 1 + 10 * 4 - 900 / 20.), 1e-6);
  EXPECT_NEAR(*tally.error(2, ErrorOf::total), 0.1, 1e-9) << "nothing is known to better than 1/N";
  EXPECT_NEAR(tally.light_of_outputs()[1].leaves, 30, 1e-9);
}

TEST(Tally, SmallOutputsAreOwnAndLargeOnesShared) {
  const std::uint64_t large = Tally::most_own, small = 100;
  const Tally tally({spectrum("large", large), spectrum("small", small)}, context(), 1e6, 1e6);
  const TallyPlan plan = tally.plan();
  const std::int64_t counters = (entry_of(1, GeneratorCounter(0)) + 3) / 4 * 4;
  const auto entries_of = [](std::uint64_t bins) {
    return 4 * (std::int64_t(bins) + 2);
  };  // all light, and that beyond
  EXPECT_EQ(plan.own, counters + entries_of(small));
  EXPECT_EQ(plan.entries, plan.own + entries_of(large));
  EXPECT_EQ(plan.outputs[0].as<SpectrumPlan>().bins.first, plan.own) << "in the order of the configuration";
  EXPECT_EQ(plan.outputs[1].as<SpectrumPlan>().bins.first, counters);
  const auto fits = std::uint64_t(Tally::most_own - counters) / 4 - 2;
  EXPECT_EQ(Tally({spectrum("a", fits)}, context(), 1, 1).plan().own, counters + entries_of(fits));
  EXPECT_EQ(Tally({spectrum("a", fits + 1)}, context(), 1, 1).plan().own, counters);
  SpectrumOutput bare = spectrum("a", large);
  bare.errors = false;
  EXPECT_EQ(Tally({bare}, context(), 1, 1).plan().entries, counters + std::int64_t(large) + 4) << "8 bytes a bin";
}

TEST(Tally, AnOutputWithoutErrorsHasTheSameLight) {
  SpectrumOutput bare = spectrum("bare", 10);
  bare.errors = false;
  Tally tally({spectrum("s", 10), bare}, context(), 1e6, 1e6);
  count_some(tally, 0, 20000);
  const BinnedLight with = tally.binned(0), without = tally.binned(1);
  EXPECT_TRUE(with.has_errors());
  EXPECT_FALSE(without.has_errors());
  EXPECT_FALSE(tally.error(1, ErrorOf::total));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(without.light[i] / with.light[i], 1, 1e-7);
  EXPECT_NEAR(without.total / with.total, 1, 1e-8);
  EXPECT_NEAR(without.beyond / with.beyond, 1, 1e-8);
}

TEST(Tally, ThreadsShareOneCopyOfALargeOutput) {
  const std::vector<AnyOutput> outputs{spectrum("large", Tally::most_own), spectrum("small", 10)};
  Tally one(outputs, context(), 1e6, 1e6), shared = one, fewer = one;
  constexpr int photons = 40000, threads = 4;
  count_some(one, 0, photons);
  {
    std::vector<TallyPart> parts(threads, TallyPart(shared));
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] { count_some(parts[t], t * photons / threads, (t + 1) * photons / threads); });
    }
    workers.clear();
    for (auto& part : parts) shared.merge(part);
    for (auto& part : parts) shared.merge(part);  // empty by now
  }
  EXPECT_TRUE(one == shared);
  EXPECT_TRUE(shared.conserves());
  EXPECT_GT(one.light_of_outputs()[0].within, 0);
  count_some(fewer, 0, photons - 1);
  EXPECT_FALSE(one == fewer);
}

/// As a device has them: several copies of the first entries.
struct CopiedCells {
  std::vector<std::uint64_t>& entries;
  std::int64_t own;
  int copies, copy;
  std::uint64_t& at(std::int64_t i) { return entries.at(std::size_t(place_of(i, own, copies, copy))); }
  std::uint64_t add(std::int64_t i, std::uint64_t value) { return std::exchange(at(i), at(i) + value); }
  void raise(std::int64_t i, std::uint64_t value) { at(i) = std::max(at(i), value); }
  void join(std::uint64_t, std::int64_t, std::uint64_t) {}
};
struct CopiedTally {
  TallyPlan plan;
  CopiedCells entries;
  void start(double weight, double left, int generator) { count_start(plan, weight, left, generator, entries); }
  void accept(const Photon& photon) { count_end(plan, photon, entries); }
};

TEST(Tally, CopiesOfADeviceAddUp) {
  const std::vector<AnyOutput> outputs{spectrum("large", Tally::most_own), spectrum("small", 10)};
  Tally one(outputs, context(), 1e6, 1e6), merged = one;
  count_some(one, 0, 1000);
  constexpr int copies = 3;
  const TallyPlan plan = merged.plan();
  std::vector<std::uint64_t> memory(std::size_t(plan.room(copies)));
  for (int copy = 0; copy < copies; ++copy) {
    CopiedTally part{plan, {memory, plan.own, copies, copy}};
    count_some(part, copy * 1000 / copies, (copy + 1) * 1000 / copies);
  }
  merged.merge_own(memory.data(), copies);
  merged.merge_shared(plan.own, std::span(memory).subspan(std::size_t(plan.own * copies)));
  EXPECT_TRUE(one == merged);
}

TEST(Tally, DoesNotDependOnHowPhotonsAreSpreadOverBatches) {
  const std::vector<AnyOutput> outputs{spectrum("large", Tally::most_own), spectrum("small", 10)};
  const Tally none(outputs, context(), 1e3, 1e3);
  const auto counted = [&](const std::vector<int>& ends) {
    Tally tally = none;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      tally.next_batch(ends[i] < 500 ? 0 : 12);  // quanta depend on the photon
      count_some(tally, ends[i], ends[i + 1]);
    }
    tally.share_light(1000);
    return tally;
  };
  const Tally one = counted({0, 500, 1000});
  EXPECT_TRUE(one.conserves());
  EXPECT_TRUE(one == counted({0, 100, 101, 500, 900, 1000}));
  EXPECT_FALSE(one == counted({0, 501, 1000})) << "the twin: one photon in other quanta";
  EXPECT_EQ(one[Counter::longest], 12u);
  EXPECT_EQ(one.photons(), 1000u);
  Tally whole = none;  // in one batch, with the finer quanta
  count_some(whole, 0, 1000);
  whole.share_light(1000);
  EXPECT_NEAR(one.light(Counter::light_emitted) / whole.light(Counter::light_emitted), 1, 1e-12);
  EXPECT_NEAR(one.binned(1).light[4] / whole.binned(1).light[4], 1, 1e-12);
  EXPECT_NEAR(one.binned(1).error(4) / whole.binned(1).error(4), 1, 1e-6);

  Tally dropped = counted({0, 500});
  dropped.next_batch(12, true);
  count_some(dropped, 500, 700);
  dropped.drop_batch();
  count_some(dropped, 500, 1000);
  EXPECT_TRUE(one == dropped);
}

/// Sums of more than 64 bits: each batch fills its entries to a quarter.
TEST(Tally, BatchesHaveRoomForMoreThanACell) {
  Tally tally({spectrum("s", 4)}, context(), 100, 1000);
  for (int batch = 0; batch < 40; ++batch) {
    tally.next_batch(0);
    count_some(tally, 100, 125);
  }
  Tally one({spectrum("s", 4)}, context(), 100, 1000);
  count_some(one, 100, 125);
  EXPECT_GT(one.light(Counter::light_emitted), 90);
  EXPECT_NEAR(tally.light(Counter::light_emitted) / one.light(Counter::light_emitted), 40, 1e-12);
  EXPECT_NEAR(tally.binned(0).light[0] / one.binned(0).light[0], 40, 1e-12);
  EXPECT_NEAR(tally.binned(0).error(0) / one.binned(0).error(0), std::sqrt(40), 1e-6);
  EXPECT_TRUE(tally.conserves());

  const auto path = std::filesystem::temp_directory_path() / fmt::format("thor-tally-{}.h5", getpid());
  {
    io::ArrayOutput file(path, true);
    tally.write_entries(file, "/tally");
    file.commit(true);
  }
  const io::Input file(path);
  Tally again({spectrum("s", 4)}, context(), 100, 1000);
  EXPECT_TRUE(file.has("/tally/carries"));
  EXPECT_EQ(again.read_entries(file, "/tally"), "");
  EXPECT_TRUE(again == tally);
  count_some(again, 100, 125), count_some(tally, 100, 125);
  EXPECT_TRUE(again == tally) << "it goes on";
  Tally brighter({spectrum("s", 4)}, context(), 101, 1000), longer({spectrum("s", 5)}, context(), 100, 1000);
  EXPECT_NE(brighter.read_entries(file, "/tally").find("quanta"), std::string::npos);
  EXPECT_NE(longer.read_entries(file, "/tally").find("cells"), std::string::npos);
  std::filesystem::remove(path);
}

/// `count` photons of unit weight at a frequency.
void count_at(Tally& tally, double frequency, int count, std::uint64_t& id) {
  for (int i = 0; i < count; ++i) {
    Photon p{};
    p.id = id++, p.weight = p.weight_initial = 1, p.frequency_final = frequency, p.fate = Phase::escaped;
    tally.start(1, 1, 0);
    tally.accept(p);
  }
}

TEST(Tally, ErrorsOfAnOutput) {
  Tally tally({spectrum("s", 4)}, context(), 1e4, 1e4);
  EXPECT_FALSE(tally.error(0, ErrorOf::peak)) << "no light yet";
  std::uint64_t id = 0;
  count_at(tally, -1.5, 100, id), count_at(tally, -0.5, 900, id), count_at(tally, 0.5, 400, id);
  EXPECT_NEAR(*tally.error(0, ErrorOf::peak), 1 / 30., 1e-8);
  EXPECT_NEAR(*tally.error(0, ErrorOf::bin_median), 1 / 30., 1e-8) << "it has more than half of the light";
  EXPECT_DOUBLE_EQ(*tally.error(0, ErrorOf::total), 1 / double(tally.photons())) << "every photon is within the range";
  count_at(tally, 0.5, 600, id), count_at(tally, 1.5, 1, id);  // now the peak is the third bin
  EXPECT_NEAR(*tally.error(0, ErrorOf::peak), 1 / std::sqrt(1000.), 1e-8);
  EXPECT_NEAR(*tally.error(0, ErrorOf::bin_median), 1 / 30., 1e-8) << "the two brightest have more than half";
  count_at(tally, 10, 1999, id);  // beyond
  EXPECT_NEAR(*tally.error(0, ErrorOf::total), std::sqrt((1 - 2001. / 4000) / 2001), 1e-6) << "binomial";
}

TEST(Tally, IsTheSameForAnyNumberOfThreadsAndLanes) {
  const std::string yaml =
      "line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 100, dust: {tau: 0.3}}\n"
      "generators: [{type: point, photons: 3000, luminosity: 1e42 erg/s}]\n"
      "outputs: [{type: histogram, name: large, axes: [{quantity: impact, range: [0 kpc, 1 kpc], bins: 400},\n"
      "    {quantity: velocity, range: [-100 km/s, 100 km/s], bins: 400}]},\n"
      "  {type: spectrum, name: s, range: [-100 km/s, 100 km/s], bins: 20}]\n"
      "output: {path: x.h5}\n";
  const auto run = [&](int threads, bool one_lane, const std::vector<std::string>& set = {}) {
    return test::run_all(yaml, set, {nullptr, {}, {threads, one_lane, ""}}).tally;
  };
  const Tally expected = run(1, false);
  EXPECT_GT(expected.plan().entries, Tally::most_own);
  EXPECT_TRUE(expected == run(3, false));
  EXPECT_TRUE(expected == run(2, true));
  EXPECT_FALSE(expected == run(1, false, {"seed=2"}));
  const auto lights = expected.light_of_outputs();
  EXPECT_EQ(lights[0].type, "histogram");
  EXPECT_NEAR(lights[0].within / lights[1].within, 1, 1e-12) << "the same photons, in bins of another kind";
}

}  // namespace tally_test
