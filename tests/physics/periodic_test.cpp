// Light towards observers from a periodic box in the Hubble flow: where rays end, which frequency is zero, and where
// light is drawn.
#include <gtest/gtest.h>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/datasets/dust_law.hpp"

namespace periodic_test {

using namespace test;

constexpr double kpc = 3.0856775814913673e21;

/// A box of 1 kpc with nearly nothing in it but dust, across which the Hubble flow is 30 km/s.
GridOptions box(double dust = 0) {
  GridOptions o;
  o.shape = {8, 8, 8};
  o.periodic = o.dust = true;
  o.hubble = 30e5 / kpc;
  o.gas = [=](int, int, int) { return GridCell{1e-20, 1e4, {}, dust, 0}; };
  return o;
}

std::string looked_at(const GridFile& file, const std::string& observer, const std::string& output,
                      const std::string& more = "") {
  return fmt::format(
      "line: Lya\ndataset: {{type: uniform_grid, path: {}, stop_shift: 5 Angstrom, dust: {{law: SMC, albedo: 0}}}}\n"
      "generators: [{{type: point, position: [0.3 kpc, -0.2 kpc, 0.45 kpc], photons: 640}}]\n"
      "observers: [{{name: far, {}}}]\noutputs: [{{name: o, observer: far, {}}}]\noutput: {{path: x.h5}}\n{}",
      file.path(), observer, output, more);
}

thor::Tally tally_of(const std::string& yaml, const std::vector<std::string>& set = {}) {
  return run_all(yaml, set, {nullptr, {}, {2, false, ""}}).tally;
}

/// Through homogeneous gas: e^-tau with tau = n sigma L depth, whatever the direction.
TEST(PeriodicRays, EndAtTheirDepth) {
  const double sigma =
      thor::dust_cross_section(thor::DustLaw::smc, 1215.67e-8) / thor::dust_metallicity(thor::DustLaw::smc);
  const GridFile file(box(0.8 / (sigma * kpc)));
  for (const char* direction : {"direction: [1, 0, 0]", "direction: [0.3, -0.5, 0.7]"}) {
    for (const char* precision : {"single", "double"}) {
      const auto seen = [&](double depth) {
        const auto tally = tally_of(looked_at(file, direction, "type: spectrum, range: [-100 km/s, 100 km/s], bins: 1",
                                              fmt::format("peel: {{roulette: 80, depth: {}}}\n", depth)),
                                    {fmt::format("precision={}", precision)});
        EXPECT_EQ(tally[thor::Counter::rays_lost], 0u);
        return tally.binned(0).light[0] / tally.light(thor::Counter::light_emitted);
      };
      for (const double depth : {0.22, 1., 3.7}) {
        EXPECT_NEAR(seen(depth) / std::exp(-0.8 * depth), 1, 1e-3) << direction << ", " << depth;
        EXPECT_GT(std::abs(seen(1.05 * depth) / std::exp(-0.8 * depth) - 1), 5e-3) << "5 % further must not pass";
      }
    }
  }
}

/// Velocity of the light of the source [km/s]: of the one bin that has all of it.
double velocity_of(const thor::Tally& tally) {
  const auto spectrum = tally.binned(0);
  const auto brightest = std::ranges::max_element(spectrum.light);
  EXPECT_NEAR(*brightest / tally.light(thor::Counter::light_emitted), 1, 1e-6);
  return -100 + (double(brightest - spectrum.light.begin()) + 0.5) * 0.25;
}
constexpr const char* fine = "type: spectrum, range: [-100 km/s, 100 km/s], bins: 800";

/// A source that is d nearer to the observer than the object at rest is bluer by H d, and by what the object recedes.
TEST(RestFrame, IsThatOfAnObjectInTheHubbleFlow) {
  for (const bool periodic : {true, false}) {
    GridOptions o = box();
    o.periodic = periodic;
    const GridFile file(o);
    const auto velocity = [&](const std::string& observer, const std::string& more = "") {
      return velocity_of(tally_of(looked_at(file, observer, fine, more)));
    };
    // From (0.1, 0, 0.2) to the source at (0.3, -0.2, 0.45) kpc: 0.25 kpc along z, 0.2 kpc along x.
    const std::string rest = "rest: {position: [0.1 kpc, 0 kpc, 0.2 kpc], velocity: [3 km/s, 50 km/s, -20 km/s]}";
    EXPECT_NEAR(velocity("direction: [0, 0, 1], " + rest), -30 * 0.25 - 20, 0.126);
    EXPECT_NEAR(velocity("direction: [0, 0, -1], " + rest, "seed: 2\n"), 30 * 0.25 + 20, 0.126) << "from behind";
    EXPECT_NEAR(velocity("direction: [1, 0, 0], up: [0, 0, 1], " + rest), -30 * 0.2 + 3, 0.126);
    EXPECT_NEAR(velocity("direction: [0, 0, 1], rest: {position: [0.1 kpc, 0 kpc, 0.45 kpc]}"), 0, 0.126);
    // Without: that of the centre of the output, 0.45 kpc behind the source.
    EXPECT_NEAR(velocity("direction: [0, 0, 1]"), -30 * 0.45, 0.126);
    if (periodic) {  // the nearest image of the object is 0.1 kpc behind the face, the source 0.15 kpc before it
      EXPECT_NEAR(velocity("direction: [0, 0, 1], rest: {position: [0 kpc, 0 kpc, -0.4 kpc]}"), 30 * 0.15, 0.126);
    }
  }
}

/// Escaped photons show the same: around the object all of its light has the velocity of the line.
TEST(RestFrame, IsThatOfEscapedPhotonsToo) {
  for (const bool periodic : {true, false}) {
    GridOptions o = box();
    o.periodic = periodic;
    const GridFile file(o);
    const auto share = [&](const std::string& rest) {
      const auto tally = tally_of(looked_at(file, "direction: [0, 0, 1]" + rest,
                                            "type: spectrum, estimator: escaped, within: 180 deg, range: [-1 km/s, 1 "
                                            "km/s], bins: 1"));
      return tally.binned(0).light[0] / tally.light(thor::Counter::light_emitted);
    };
    EXPECT_NEAR(share(", rest: {position: [0.3 kpc, -0.2 kpc, 0.45 kpc]}"), 1, 1e-6);
    EXPECT_LT(share(", rest: {position: [0.3 kpc, -0.2 kpc, 0.2 kpc]}"), 0.3) << "7.5 km/s away";
  }
}

/// Light of a periodic box is drawn at the image nearest to the centre, by rays and by escaped photons.
TEST(PeriodicImages, AreWholeAtAFace) {
  const GridFile file(box());
  // The source is at z = 0.45 kpc, 0.07 kpc below the next image of the centre, and 0.03 kpc to its left.
  const std::string image = "type: image, width: 0.4 kpc, pixels: 40, centre: [0 kpc, -0.17 kpc, -0.48 kpc]";
  for (const char* estimator : {"", ", estimator: escaped, within: 180 deg"}) {
    const auto tally = tally_of(looked_at(file, "direction: [1, 0, 0], up: [0, 0, 1]", image + estimator));
    const auto seen = tally.binned(0);
    double all = 0;
    for (const double light : seen.light) all += light;
    if (*estimator == 0) {
      EXPECT_NEAR(seen.light[13 * 40 + 17] / tally.light(thor::Counter::light_emitted), 1, 1e-6);
    } else {  // in a ring as wide as the distance from the centre, 0.31 kpc, at most
      EXPECT_GT(all / tally.light(thor::Counter::light_emitted), 0.3);
    }
  }
}

}  // namespace periodic_test
