// Errors of what an observer sees against the scatter of many runs.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/outputs/trust.hpp"

namespace errors_test {

using namespace test;

/// A small disc of dusty clumps, lit by a bright and by a faint source: 200 runs with seeds of their own.
std::vector<std::vector<thor::BinnedLight>> runs(int seeds) {
  GridOptions o;
  o.shape = {12, 12, 12}, o.dust = true;
  o.gas = [](int x, int y, int z) {
    const double r = std::hypot(x - 5.5, y - 5.5), h = std::abs(z - 5.5);
    const bool clump = (x * 7 + y * 13 + z * 5) % 3 == 0;
    const double n = 1e-5 * std::exp(-r / 3 - h) * (clump ? 10 : 0.3);
    return GridCell{n, 1e4, {60 * (5.5 - y) / (r + 1), 60 * (x - 5.5) / (r + 1), 0}, n};
  };
  const GridFile file(o);
  const auto config = thor::config::parse(
      fmt::format(
          "line: Lya\ndataset: {{type: uniform_grid, path: {}, dust: {{law: SMC}}}}\n"
          "generators: [{{type: point, photons: 500, luminosity: 1e42 erg/s}},\n"
          "  {{type: point, position: [0.2 kpc, 0.1 kpc, 0.1 kpc], photons: 500, luminosity: 3e41 erg/s}}]\n"
          "observers: [{{name: o, direction: [1, 0, 1]}}]\n"
          "outputs: [{{type: image, name: i, observer: o, width: 1 kpc, pixels: 6}},\n"
          "  {{type: spectrum, name: s, observer: o, range: [-300 km/s, 300 km/s], bins: 24}},\n"
          "  {{type: cube, name: c, observer: o, width: 1 kpc, pixels: 5, range: [-300 km/s, 300 km/s], bins: 12}},\n"
          "  {{type: spectrum, name: all, range: [-300 km/s, 300 km/s], bins: 24}}]\noutput: {{path: x.h5}}\n",
          file.path()),
      "test");
  thor::Setup setup = thor::build_setup(config);
  std::vector<std::vector<thor::BinnedLight>> all;
  for (int seed = 1; seed <= seeds; ++seed) {
    setup.emitter.seed = std::uint64_t(seed);
    thor::Pool pool(0, setup.emitter.count(), 32);
    thor::Control control;
    thor::Tally tally = thor::build_tally(config, setup);
    thor::run_problem(config, setup, pool, {nullptr, {}, {2, false, ""}}, control, tally, {});
    all.emplace_back();
    for (std::size_t i = 0; i < 4; ++i) all.back().push_back(tally.binned(i));
  }
  return all;
}

/// Deviations from the mean of all runs over their errors, of bins with at least 20 photons in the mean.
struct Coverage {
  double rms = 0, of_trusted = 0, of_total = 0;
  int bins = 0, trusted = 0, few_trusted = 0, few = 0;
};
Coverage coverage(const std::vector<std::vector<thor::BinnedLight>>& all, std::size_t output, double scale = 1) {
  Coverage c;
  const auto n = double(all.size());
  double squares = 0, of_trusted = 0, total = 0, of_total = 0;
  for (const auto& run : all) total += run[output].total / n;
  for (const auto& run : all) {
    of_total += std::pow((run[output].total - total) / (scale * run[output].total_error), 2) / n;
  }
  c.of_total = std::sqrt(of_total);
  for (std::size_t i = 0; i < all[0][output].light.size(); ++i) {
    double mean = 0, variance = 0;
    for (const auto& run : all) {
      mean += run[output].light[i] / n;
      if (run[output].light[i] > 0) variance += std::pow(run[output].error(i), 2) / n;
    }
    if (!(mean > 0)) continue;
    const bool many = mean * mean >= 20 * variance;  // as many as 20 equal ones, or more
    for (const auto& run : all) {
      const thor::BinnedLight& bin = run[output];
      if (!(bin.light[i] > 0)) continue;
      const double deviation = std::pow((bin.light[i] - mean) / (scale * bin.error(i)), 2);
      const bool is_trusted = double(bin.vov[i]) <= thor::most_vov && double(bin.relative_error[i]) <= 0.2;
      if (many) ++c.bins, squares += deviation;
      if (is_trusted) ++c.trusted, of_trusted += deviation;
      if (!many) ++c.few, c.few_trusted += is_trusted;
    }
  }
  c.rms = std::sqrt(squares / c.bins), c.of_trusted = std::sqrt(of_trusted / std::max(c.trusted, 1));
  return c;
}

TEST(Errors, CoverTheScatterOfManyRuns) {
  const auto all = runs(200);
  for (const std::size_t output : {0u, 1u, 2u, 3u}) {
    const Coverage c = coverage(all, output);
    ASSERT_GE(c.bins, 400) << output;
    EXPECT_NEAR(c.rms, 1, 0.1) << output;
    EXPECT_NEAR(c.of_trusted, 0.97, 0.13) << output << ": less than 1 where a bin has a large share of all photons";
    // The number of photons is fixed for each source, which makes the scatter less than the error says.
    if (output < 3) {
      EXPECT_NEAR(c.of_total, 0.9, 0.25) << output << ": 200 runs know it to 5 %";
    }
    EXPECT_LE(c.few_trusted, 0.1 * c.few) << output;
    EXPECT_GT(std::abs(coverage(all, output, 0.75).rms - 1), 0.1) << "the twin: errors that are too small";
  }
}

}  // namespace errors_test
