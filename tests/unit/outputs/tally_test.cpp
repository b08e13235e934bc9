#include "thor/outputs/tally.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "support/run.hpp"

/// How light is counted: contributions of one history, private and shared cells, what is rounded.
namespace tally_test {

using namespace thor;

struct Cells {
  std::vector<std::uint64_t>& cells;
  void add(std::int64_t i, std::uint64_t value) { cells.at(std::size_t(i)) += value; }
};

template <int most>
Bins<most> bins(std::int64_t count, double quanta_per_light, double quanta_per_square) {
  Bins<most> b{.count = count};
  b.quanta_per_light = quanta_per_light, b.quanta_per_square = quanta_per_square;
  return b;
}

/// An output whose photons each add to a bin several times, all their contributions being as bright as the photon: the
/// error of the sum of many such photons, as one run estimates it, over the scatter of the sums of many runs.
struct Ratios {
  double by_history, by_group, naive;
};
Ratios error_ratios() {
  constexpr int runs = 400, photons = 640;
  constexpr double unit = 0x1p30;
  std::mt19937 random(7);
  std::exponential_distribution<double> brightness(1);
  std::poisson_distribution<int> times(5);
  const auto exact = bins<3>(4, unit, unit);
  const auto each = bins<1>(4, unit, unit);
  const auto groups = bins<0>(4, unit, unit);
  double sum = 0, sum_of_squares = 0, by_history = 0, by_group = 0, naive = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<std::uint64_t> a(std::size_t(exact.cells())), b(std::size_t(each.cells())),
        c(std::size_t(groups.cells()));
    Cells cells_a{a}, cells_b{b}, cells_c{c};
    for (int id = 0; id < photons; ++id) {
      const double light = brightness(random);
      Contributions history(exact, std::uint64_t(id), cells_a);
      for (int i = times(random); i >= 0; --i) {
        history.add(2, light);
        Contributions alone(each, std::uint64_t(id), cells_b);
        alone.add(2, light), alone.finish();
        Contributions(groups, std::uint64_t(id), cells_c).add(2, light);
      }
      history.add(id % 2, 1e-3);  // another bin in between
      history.finish();
    }
    const double total = double(a[3]) / unit;
    EXPECT_NEAR(double(b[3]) / unit, total, 1e-6 * total);
    sum += total, sum_of_squares += total * total;
    by_history += double(a[3 + 4]) / unit, naive += double(b[3 + 4]) / unit;
    double mean = 0, scatter = 0;
    const auto group = [&](int g) { return double(c[std::size_t(1 + 4 * g + 2)]) / unit; };
    for (int g = 0; g < id_groups; ++g) mean += group(g) / id_groups;
    for (int g = 0; g < id_groups; ++g) scatter += std::pow(group(g) - mean, 2);
    EXPECT_NEAR(mean * id_groups, total, 1e-6 * total);
    by_group += scatter * id_groups / (id_groups - 1);
  }
  const double variance = sum_of_squares / runs - std::pow(sum / runs, 2);
  const auto ratio = [&](double squares) { return std::sqrt(squares / runs / variance); };
  return {ratio(by_history), ratio(by_group), ratio(naive)};
}

// The error of sqrt(sum s^2) is that of a Poisson number of photons: here their number is fixed, which makes the true
// one smaller by 1 - <s>^2/<s^2>, with <s> = 6 and <s^2> = 2 x 41 in units of the mean brightness.
TEST(Contributions, OfOneHistoryAreAddedBeforeTheyAreSquared) {
  const Ratios ratios = error_ratios();
  const double expected = 1 / std::sqrt(1 - 36. / 82);
  EXPECT_NEAR(ratios.by_history, expected, 0.07);  // 400 runs know the true one to 3.5 %
  EXPECT_NEAR(ratios.by_group, 1, 0.07);
  EXPECT_LT(ratios.naive, 0.65) << "contributions taken as independent: the twin";
}

TEST(Contributions, AreRoundedOnceForEachPhotonAndBin) {
  std::vector<std::uint64_t> a(5), b(std::size_t(1 + 2 * id_groups));
  Cells cells_a{a}, cells_b{b};
  const auto exact = bins<2>(2, 1, 1);
  const auto groups = bins<0>(2, 1, 1);
  Contributions history(exact, 0, cells_a);
  for (int i = 0; i < 1000; ++i) history.add(1, 0.4);
  for (std::uint64_t id = 0; id < 100000; ++id) Contributions(groups, id, cells_b).add(1, 0.004);
  history.add(-1, 7);
  history.finish();
  EXPECT_EQ(a, (std::vector<std::uint64_t>{7, 0, 400, 0, 160000}));
  EXPECT_NEAR(double(std::accumulate(b.begin(), b.end(), 0ull)), 400, 4 * 20) << "each is less than half a quantum";
}

// Ids are dealt to two sources in turn: no group has only one of them.
TEST(Contributions, GroupsAreFairSamples) {
  for (const std::uint64_t step : {1u, 2u, 32u, 1024u}) {
    std::vector<int> sizes(id_groups);
    for (std::uint64_t i = 0; i < 32000; ++i) ++sizes[std::size_t(group_of(i * step + 5))];
    for (const int size : sizes) EXPECT_NEAR(size, 1000, step < 32 ? 60 : 150) << step;  // blocks are random
  }
}

// Photons are dealt to many sources such that each bin, which has a part of the sources, gets its share of them: the
// error by groups may be as large as for random photons, but no larger.
TEST(Contributions, EveryGroupHasPhotonsOfAllSources) {
  constexpr std::uint64_t sources = 1000, photons = 64000, counted = 8;
  std::vector<std::uint64_t> end(sources);
  std::iota(end.begin(), end.end(), 1);
  for (const std::uint64_t step :
       {0x9e3779b97f4a7c15ull, 618 * (~0ull / sources)}) {  // as in generators/source_list.cpp
    const SourceTable table{sources, end.data(), 12345, step, nullptr, nullptr, nullptr, nullptr};
    const auto groups = bins<0>(std::int64_t(counted), 1, 1);
    std::vector<std::uint64_t> cells(std::size_t(groups.cells()));
    Cells view{cells};
    for (std::uint64_t id = 0; id < photons; ++id) {
      const std::uint64_t bin = source_of(table, id) * counted / sources;
      Contributions(groups, id, view).add(std::int64_t(bin), 1);
    }
    for (std::uint64_t bin = 0; bin < counted; ++bin) {
      double mean = 0, scatter = 0;
      const auto of_group = [&](std::uint64_t g) { return double(cells[1 + g * counted + bin]); };
      for (int g = 0; g < id_groups; ++g) mean += of_group(std::uint64_t(g)) / id_groups;
      for (int g = 0; g < id_groups; ++g) scatter += std::pow(of_group(std::uint64_t(g)) - mean, 2);
      const double error = std::sqrt(scatter * id_groups / (id_groups - 1));
      EXPECT_LT(error, 1.5 * std::sqrt(mean * id_groups)) << "bin " << bin << ", step " << step;
    }
  }
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
    EXPECT_NEAR(stars.error[bin], 3 * std::sqrt(5.), 1e-9);
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
  const std::int64_t counters = cell_of(1, GeneratorCounter(0));
  EXPECT_EQ(plan.own, counters + 1 + 2 * std::int64_t(small));
  EXPECT_EQ(plan.cells, plan.own + 1 + 2 * std::int64_t(large));
  EXPECT_EQ(plan.outputs[0].as<SpectrumPlan>().bins.first, plan.own) << "in the order of the configuration";
  EXPECT_EQ(plan.outputs[1].as<SpectrumPlan>().bins.first, counters);
  const auto fits = std::uint64_t(Tally::most_own - counters - 1) / 2;
  EXPECT_EQ(Tally({spectrum("a", fits)}, context(), 1, 1).plan().own, counters + 1 + 2 * std::int64_t(fits));
  EXPECT_EQ(Tally({spectrum("a", fits + 1)}, context(), 1, 1).plan().own, counters);
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

/// As a device has them: several copies of the first cells.
struct CopiedCells {
  std::vector<std::uint64_t>& cells;
  std::int64_t own;
  int copies, copy;
  std::uint64_t& at(std::int64_t i) { return cells.at(std::size_t(place_of(i, own, copies, copy))); }
  void add(std::int64_t i, std::uint64_t value) { at(i) += value; }
  void raise(std::int64_t i, std::uint64_t value) { at(i) = std::max(at(i), value); }
};
struct CopiedTally {
  TallyPlan plan;
  CopiedCells cells;
  void start(double weight, double left, int generator) { count_start(plan, weight, left, generator, cells); }
  void accept(const Photon& photon) { count_end(plan, photon, cells); }
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
  merged.merge(memory.data(), copies);
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
  EXPECT_NEAR(one.binned(1).error[4] / whole.binned(1).error[4], 1, 1e-9);

  Tally dropped = counted({0, 500});
  dropped.next_batch(12);
  count_some(dropped, 500, 700);
  dropped.drop_batch();
  count_some(dropped, 500, 1000);
  EXPECT_TRUE(one == dropped);
}

/// Sums of more than 64 bits: each batch fills its cells to a quarter.
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
  EXPECT_NEAR(tally.binned(0).error[0] / one.binned(0).error[0], std::sqrt(40), 1e-9);
  EXPECT_TRUE(tally.conserves());

  const auto path = std::filesystem::temp_directory_path() / fmt::format("thor-tally-{}.h5", getpid());
  {
    io::ArrayOutput file(path, true);
    tally.write_cells(file, "/tally");
    file.commit(true);
  }
  const io::Input file(path);
  Tally again({spectrum("s", 4)}, context(), 100, 1000);
  EXPECT_TRUE(file.has("/tally/carries"));
  EXPECT_EQ(again.read_cells(file, "/tally"), "");
  EXPECT_TRUE(again == tally);
  count_some(again, 100, 125), count_some(tally, 100, 125);
  EXPECT_TRUE(again == tally) << "it goes on";
  Tally brighter({spectrum("s", 4)}, context(), 101, 1000), longer({spectrum("s", 5)}, context(), 100, 1000);
  EXPECT_NE(brighter.read_cells(file, "/tally").find("quanta"), std::string::npos);
  EXPECT_NE(longer.read_cells(file, "/tally").find("cells"), std::string::npos);
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
  EXPECT_NEAR(*tally.error(0, ErrorOf::peak), 1 / 30., 1e-9);
  EXPECT_NEAR(*tally.error(0, ErrorOf::bin_median), 1 / 30., 1e-9) << "it has more than half of the light";
  EXPECT_DOUBLE_EQ(*tally.error(0, ErrorOf::total), 1 / double(tally.photons())) << "every photon is within the range";
  count_at(tally, 0.5, 600, id), count_at(tally, 1.5, 1, id);  // now the peak is the third bin
  EXPECT_NEAR(*tally.error(0, ErrorOf::peak), 1 / std::sqrt(1000.), 1e-9);
  EXPECT_NEAR(*tally.error(0, ErrorOf::bin_median), 1 / 30., 1e-9) << "the two brightest have more than half";
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
  EXPECT_GT(expected.plan().cells, Tally::most_own);
  EXPECT_TRUE(expected == run(3, false));
  EXPECT_TRUE(expected == run(2, true));
  EXPECT_FALSE(expected == run(1, false, {"seed=2"}));
  const auto lights = expected.light_of_outputs();
  EXPECT_EQ(lights[0].type, "histogram");
  EXPECT_NEAR(lights[0].within / lights[1].within, 1, 1e-12) << "the same photons, in bins of another kind";
}

}  // namespace tally_test
