// Light that has left the line behind: dust goes on, fast gas still absorbs, and an observer has one frame for all of
// it.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/datasets/dust_law.hpp"

namespace stop_test {

using namespace test;
using thor::Counter;
using thor::Phase;

constexpr double kpc = 3.0856775814913673e21;
constexpr double tau = 0.5;  // of dust, a cell

double dust_of(double depth, double length) {
  const auto smc = thor::DustLaw::smc;
  return depth / (thor::dust_cross_section(smc, 1215.67e-8) / thor::dust_metallicity(smc) * length);
}

/// 8^3 cells in 1 kpc, with dust and hardly any gas, across which the Hubble flow is 100 km/s.
GridOptions dusty_box(bool periodic) {
  GridOptions o;
  o.shape = {8, 8, 8};
  o.periodic = periodic, o.dust = true;
  o.hubble = 100e5 / kpc;
  o.gas = [](int, int, int) { return GridCell{1e-20, 1e4, {}, dust_of(tau, kpc / 8), 0}; };
  return o;
}

/// Light of a point in a cell, at a velocity to the red of the line, seen along an axis and along a diagonal.
std::string lit(const GridFile& file, const std::string& dataset, double velocity, int photons,
                const std::string& more = "") {
  return fmt::format(
      "line: Lya\ndataset: {{type: uniform_grid, path: {}, dust: {{law: SMC, albedo: 0}}{}}}\n"
      "generators: [{{type: point, position: [0.05 kpc, 0.07 kpc, 0.02 kpc], photons: {}, spectrum: {{type: delta, "
      "offset: {} km/s}}}}]\n"
      "observers: [{{name: z, direction: [0, 0, 1]}}, {{name: across, direction: [0.48, -0.6, 0.64]}}]\n"
      "outputs: [{{type: spectrum, name: a, observer: z, range: [-9000 km/s, 9000 km/s], bins: 1}}, {{type: spectrum, "
      "name: b, observer: across, range: [-9000 km/s, 9000 km/s], bins: 1}}]\n"
      "output: {{path: x.h5}}\n{}",
      file.path(), dataset, photons, velocity, more);
}
const std::string stops = ", stop_shift: 5 Angstrom", no_roulette = "peel: {roulette: 80}\n";

Outcome outcome_of(const std::string& yaml, const std::vector<std::string>& set = {}) {
  return run_all(yaml, set, {nullptr, {}, {2, false, ""}});
}

double share(const std::vector<thor::Photon>& photons, Phase fate) {
  return double(std::ranges::count(photons, fate, &thor::Photon::fate)) / double(photons.size());
}

/// e^-tau along the way from the point to the face of the box, by directions on a fine mesh: shares no code with thor.
double escaping() {
  const double place[3] = {4.4, 4.56, 4.16};  // [cells]
  constexpr int n = 400;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double mu = -1 + (i + 0.5) * 2 / n, phi = (j + 0.5) * 2 * M_PI / n, sine = std::sqrt(1 - mu * mu);
      const double d[3] = {sine * std::cos(phi), sine * std::sin(phi), mu};
      double way = 1e9;
      for (int k = 0; k < 3; ++k) way = std::min(way, d[k] > 0 ? (8 - place[k]) / d[k] : -place[k] / d[k]);
      sum += std::exp(-tau * way);
    }
  }
  return sum / (n * n);
}

/// To the edge of an open box, redward of stop_shift and blueward, with the key and without.
TEST(StoppedLight, MeetsDustToTheEdge) {
  const GridFile file(dusty_box(false));
  const double truth = escaping(), error = 4 * std::sqrt(truth * (1 - truth) / 4000);
  for (const double velocity : {4000., -4000.}) {
    for (const std::string& key : {stops, std::string()}) {
      const auto light = outcome_of(lit(file, key, velocity, 4000, no_roulette));
      const double sent = light.tally.light(Counter::light_emitted), escaped = share(light.photons, Phase::escaped);
      EXPECT_NEAR(light.tally.binned(0).light[0] / sent / std::exp(-tau * 3.84), 1, 1e-3) << velocity << key;
      const double way = std::min({3.6 / 0.48, 4.56 / 0.6, 3.84 / 0.64});
      EXPECT_NEAR(light.tally.binned(1).light[0] / sent / std::exp(-tau * way), 1, 1e-3) << velocity << key;
      EXPECT_EQ(share(light.photons, Phase::stopped), 0);
      EXPECT_NEAR(escaped, truth, error) << velocity << key;
      EXPECT_GT(std::abs(escaped - std::exp(-tau * 0.84)), error) << "the dust of one cell must not pass";
    }
  }
}

/// Along peel.depth sides of a periodic box, one by default, and neither more nor less blueward of the line.
TEST(StoppedLight, MeetsDustAlongTheDepthOfAPeriodicBox) {
  const GridFile file(dusty_box(true));
  for (const double velocity : {4000., -4000.}) {
    for (const double depth : {0., 1., 0.6}) {
      const std::string peel = depth > 0 ? fmt::format("peel: {{roulette: 80, depth: {}}}\n", depth) : no_roulette;
      const auto light = outcome_of(lit(file, stops, velocity, 4000, peel));
      const double sent = light.tally.light(Counter::light_emitted), passed = share(light.photons, Phase::stopped);
      const auto along = [](double sides) { return std::exp(-tau * 8 * sides); };
      const double sides = depth > 0 ? depth : 1, truth = along(sides);
      for (int observer : {0, 1}) {
        EXPECT_NEAR(light.tally.binned(observer).light[0] / sent / truth, 1, 1e-3) << velocity << ", " << depth;
        EXPECT_GT(std::abs(light.tally.binned(observer).light[0] / sent / along(1.05 * sides) - 1), 5e-3);
      }
      EXPECT_NEAR(share(light.photons, Phase::absorbed) + passed, 1, 1e-9);
      EXPECT_NEAR(passed, truth, 4 * std::sqrt(truth * (1 - truth) / 4000)) << velocity << ", " << depth;
      const double twin = along(1.5 * sides);
      EXPECT_GT(std::abs(passed - twin), 4 * std::sqrt(twin * (1 - twin) / 4000)) << "half of the path more";
    }
  }
}

/// Without dust rays go on until stop_shift: the line absorbs more than a box away. In the Hubble flow its optical
/// depth is that of Gunn & Peterson (1965), n f lambda pi e^2/(m c H).
TEST(StoppedLight, MeetsTheLineBehindManyBoxes) {
  GridOptions o = dusty_box(true);
  o.gas = [&](int, int, int) { return GridCell{o.hubble / (0.026540 * 0.41641 * 1215.67e-8), 1e4, {}, 0, 0}; };
  const GridFile file(o);
  const auto seen = [&](double velocity, const std::string& peel) {  // without light that the line has scattered
    const auto tally = outcome_of(lit(file, stops, velocity, 64, peel),
                                  {fmt::format("outputs.0.range=[{} km/s, {} km/s]", velocity - 90, velocity + 90)})
                           .tally;
    return tally.binned(0).light[0] / tally.light(Counter::light_emitted);
  };
  EXPECT_NEAR(seen(-330, no_roulette) / std::exp(-1), 1, 0.02) << "behind 3.3 boxes";
  EXPECT_GT(seen(-330, "peel: {roulette: 80, depth: 2.5}\n"), 0.97);
  EXPECT_GT(seen(330, no_roulette), 0.97) << "it has left the line behind";
}

/// Gas that falls towards a source at 1500 km/s absorbs light 1500 km/s to the red of the line.
TEST(StoppedLight, MeetsFastGas) {
  GridOptions o;
  o.shape = {8, 4, 4};
  o.gas = [](int x, int, int) { return x < 5 ? GridCell{1e-20} : GridCell{3e-6, 1e4, {-1500, 0, 0}, 0, 0}; };
  const GridFile file(o);
  const auto photons = [&](double velocity, const std::string& dataset) {
    return run(
        fmt::format("line: Lya\ndataset: {{type: uniform_grid, path: {}{}}}\n"
                    "generators: [{{type: extended, shape: beam, direction: [1, 0, 0], radius: 0.1 kpc, photons: "
                    "400, spectrum: {{type: delta, offset: {} km/s}}}}]\noutput: {{path: x.h5}}\n",
                    file.path(), dataset, velocity));
  };
  const auto scatterings = [](const std::vector<thor::Photon>& all) {
    return collect(all, [](const thor::Photon& p) { return double(p.scatterings); });
  };
  for (const char* shift : {", stop_shift: 5 Angstrom", ", stop_shift: 0.5 Angstrom, packed: true"}) {
    const auto stopping = scatterings(photons(1500, shift));
    EXPECT_GT(std::accumulate(stopping.begin(), stopping.end(), 0.), 1000);
    if (!std::strstr(shift, "packed")) {
      EXPECT_EQ(stopping, scatterings(photons(1500, "")));
    }
    const auto beyond = photons(3500, shift);
    EXPECT_EQ(share(beyond, Phase::stopped), 1) << "the twin: redward of all gas";
    EXPECT_EQ(scatterings(beyond), std::vector<double>(400, 0));
  }
}

/// Gas of 2e7 K, with a width of 570 km/s, absorbs light 900 km/s to the red, far beyond a stop_shift of 0.5 Angstrom.
TEST(StoppedLight, MeetsBroadGas) {
  GridOptions o;
  o.shape = {8, 4, 4};
  o.gas = [](int, int, int) { return GridCell{1e-5, 2e7, {}, 0, 0}; };
  const GridFile file(o);
  const auto scatterings = [&](double velocity, const std::string& dataset) {
    double sum = 0;
    const std::string yaml = fmt::format(
        "line: Lya\ndataset: {{type: uniform_grid, path: {}{}}}\ngenerators: [{{type: point, photons: 400, spectrum: "
        "{{type: delta, offset: {} km/s}}}}]\noutput: {{path: x.h5}}\n",
        file.path(), dataset, velocity);
    for (const auto& p : run(yaml)) sum += double(p.scatterings);
    return sum;
  };
  EXPECT_GT(scatterings(900, ""), 1000);
  EXPECT_EQ(scatterings(900, ", stop_shift: 0.5 Angstrom"), scatterings(900, ""));
  EXPECT_EQ(scatterings(4000, ", stop_shift: 0.5 Angstrom"), 0) << "the twin: redward of all gas";
}

/// A continuum is seen as it was emitted, whether rays are stopped, leave the box, or both; by rays and by photons.
TEST(OneFrame, HasAllTheLightOfASpectrum) {
  for (const char* direction : {"[0, 0, 1]", "[0.48, -0.6, 0.64]"}) {
    GridOptions o = dusty_box(false);
    o.hubble = 2000e5 / kpc;
    o.gas = [](int, int, int) { return GridCell{1e-20}; };
    const GridFile file(o);
    const auto yaml = [&](const std::string& dataset) {
      return fmt::format(
          "line: Lya\ndataset: {{type: uniform_grid, path: {}{}}}\n"
          "generators: [{{type: point, position: [0.2 kpc, 0.1 kpc, -0.3 kpc], photons: 3200, spectrum: {{type: "
          "continuum, range: [1200 Angstrom, 1230 Angstrom]}}}}]\nobservers: [{{name: far, direction: {}}}]\n"
          "outputs: [{{type: spectrum, name: sent, of: emitted, observer: far, range: [-3000 km/s, 3000 km/s], bins: "
          "30}}, {{type: spectrum, name: seen, observer: far, range: [-3000 km/s, 3000 km/s], bins: 30}}]\n"
          "output: {{path: x.h5}}\n",
          file.path(), dataset, direction);
    };
    for (const std::string& key : {stops, std::string()}) {
      const auto tally = outcome_of(yaml(key)).tally;
      const auto sent = tally.binned(0).light, seen = tally.binned(1).light;
      for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_NEAR(seen[i] / sent[i], 1, 1e-9) << direction << key << i;
    }
  }
}

/// Unscattered light of the centre has the velocity of the line, whatever the direction and the size of the box.
TEST(OneFrame, HasItsZeroInTheCentreOfTheOutput) {
  for (const double size : {1., 2.}) {
    GridOptions o = dusty_box(false);
    o.size = size * kpc;
    o.gas = [](int, int, int) { return GridCell{1e-20}; };
    const GridFile file(o);
    for (const char* direction : {"[0, 0, 1]", "[-1, 0, 0]", "[0.48, -0.6, 0.64]"}) {
      const auto velocity = [&](const std::string& source, const std::string& output) {
        const auto tally =
            outcome_of(
                fmt::format("line: Lya\ndataset: {{type: uniform_grid, path: {}}}\n"
                            "generators: [{{type: point, position: {}, photons: 320}}]\n"
                            "observers: [{{name: far, direction: {}, up: [0, 1, 0.1]}}]\n"
                            "outputs: [{{type: spectrum, name: o, observer: far, range: [-100.125 km/s, 100.125 km/s], "
                            "bins: 801{}}}]\noutput: {{path: x.h5}}\n",
                            file.path(), source, direction, output))
                .tally;
        const auto light = tally.binned(0).light;
        const auto brightest = std::ranges::max_element(light);
        EXPECT_NEAR(*brightest / tally.light(Counter::light_emitted), 1, 1e-6);
        return (double(brightest - light.begin()) - 400) * 0.25;
      };
      const std::string origin = "[0 kpc, 0 kpc, 0 kpc]", off = "[0.1 kpc, 0 kpc, 0.2 kpc]";
      EXPECT_EQ(velocity(origin, ""), 0) << size << direction;
      EXPECT_EQ(velocity(off, ", centre: " + off), 0) << size << direction;
      EXPECT_GT(std::abs(velocity(off, "")), 5) << "100 km/s a kpc nearer or farther";
    }
  }
}

}  // namespace stop_test
