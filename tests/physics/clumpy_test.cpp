// Clumpy, dusty gas with holes and sharp edges on a grid: every acceleration in both precisions against the run that
// follows every scattering in double precision.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"
#include "thor/datasets/dust_law.hpp"

namespace {

using namespace test;

constexpr double cell = 3.0856775814913673e21 / 16;  // of 1 kpc in 16 [cm]

/// Blocks of 3^3 cells at 100 K: three of five are clumps of a line-centre depth of `tau` a cell, one is an empty hole,
/// and one is thin gas. The source sits in a hole. Clumps contain dust and move, each in its own direction at up to 2
/// km/s, 1.6 thermal widths.
GridOptions clumps(double tau, double tau_dust) {
  GridOptions o;
  o.dust = true;
  const double sigma_line = 5.898e-13;  // at 100 K
  const double sigma_dust =
      thor::dust_cross_section(thor::DustLaw::smc, 1215.67e-8) / thor::dust_metallicity(thor::DustLaw::smc);
  o.gas = [=](int x, int y, int z) {
    const auto hash = [&](unsigned salt) {
      unsigned h =
          unsigned(x / 3) * 73856093u ^ unsigned(y / 3) * 19349663u ^ unsigned(z / 3) * 83492791u ^ salt * 2654435761u;
      h ^= h >> 13, h *= 0x5bd1e995u, h ^= h >> 15;
      return h % 1000;
    };
    const bool source = std::abs(2 * x - 15) < 4 && std::abs(2 * y - 15) < 4 && std::abs(2 * z - 15) < 4;
    const unsigned kind = hash(1) / 200;
    if (source || kind < 1) return GridCell{0, 100, {}, 0, 0};
    if (kind == 1) return GridCell{1 / (sigma_line * cell), 100, {}, 0, 0};
    GridCell c{tau / (sigma_line * cell), 100, {}, tau_dust / (sigma_dust * cell), 0};
    for (unsigned k = 0; k < 3; ++k) c.velocity[k] = (double(hash(7 + k)) - 500) / 250;
    return c;
  };
  return o;
}

constexpr int photons = 2000;

struct Sample {
  double escaped;
  std::vector<double> x;
};
Sample sample(const GridFile& file, const std::string& skip, const std::string& more) {
  const auto all =
      run(fmt::format("line: Lya\ndataset: {{type: uniform_grid, path: {}, dust: {{law: SMC}}}}\n"
                      "generators: [{{type: point, photons: {}}}]\nacceleration: {{core_skip: {}}}\n"
                      "output: {{path: x.h5}}\n{}",
                      file.path(), photons, skip, more));
  return {escape_fraction(all), frequencies(all)};
}

/// Difference of two escape fractions in units of its error; and the p-value for two spectra to be the same.
double apart(const Sample& a, const Sample& b) {
  const auto variance = [](double f) { return f * (1 - f) / photons; };
  return std::abs(a.escaped - b.escaped) / std::sqrt(variance(a.escaped) + variance(b.escaped));
}
double alike(const Sample& a, const Sample& b) {
  return ks_p(ks_distance(a.x, b.x), double(a.x.size()), double(b.x.size()));
}

// With 2000 photons a side f_esc = 0.48 is known to 0.016 and a spectrum to a KS distance of 0.09 (p = 1e-3): an
// acceleration that absorbs an eighth of the light too much or too little fails, and one that moves the peaks by a
// third of their width. {fixed: 3} does far worse, and must be detected: three fifths of the light are gone, and the KS
// distance is 0.13. Not detected: a length scale of the local scheme that is too long, since few photons get deep into
// a clump; SphereOnAGrid tests that.
TEST(Clumps, AccelerationsAreUnbiased) {
  const GridFile file(clumps(3e3, 0.1));
  const Sample truth = sample(file, "none", "precision: double\n");
  for (const char* skip : {"none", "local", "{fixed: 0.5}"}) {
    for (const char* precision : {"single", "double"}) {
      if (std::string(skip) == "none" && std::string(precision) == "double") continue;
      const Sample s = sample(file, skip, fmt::format("seed: 2\nprecision: {}\n", precision));
      EXPECT_LT(apart(s, truth), 4) << skip << ", " << precision;
      EXPECT_GT(alike(s, truth), 1e-3) << skip << ", " << precision;
    }
  }
  for (const char* precision : {"single", "double"}) {
    const Sample biased = sample(file, "{fixed: 3}", fmt::format("seed: 2\nprecision: {}\n", precision));
    EXPECT_GT(apart(biased, truth), 8) << "{fixed: 3} absorbs too much light";
    EXPECT_LT(alike(biased, truth), 1e-3) << "{fixed: 3} has another spectrum";
  }
  const GridFile dusty(clumps(3e3, 0.16)), thick(clumps(1.2e4, 0.1));
  EXPECT_GT(apart(sample(dusty, "local", "seed: 2\n"), truth), 4) << "60 % more dust must not pass";
  EXPECT_LT(alike(sample(thick, "local", "seed: 2\n"), truth), 1e-3) << "four times the gas must not pass";
}

}  // namespace
