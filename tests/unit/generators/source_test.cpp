#include <gtest/gtest.h>

#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace thor;

/// Photons at emission: a cap of one step leaves them unchanged.
std::vector<Photon> born(const std::string& generator, const std::string& more = "") {
  return test::run(
      "line: Lya\nprecision: double\ndataset: {type: shell, inner_radius: 0.5 kpc, outer_radius: 1 kpc, temperature: "
      "1e4 K, "
      "tau0: 1e-6" +
      more + "}\ngenerators: [{photons: 20000, " + generator + "}]\noutput: {path: x.h5}\n");
}
double radius(const Photon& p) { return std::hypot(p.position[0], p.position[1], p.position[2]); }

TEST(Source, UniformOverTheMedium) {
  const auto r3 =
      test::collect(born("type: extended, shape: medium"), [](const auto& p) { return std::pow(radius(p), 3); });
  EXPECT_GT(test::ks_p(test::ks_distance(r3, [](double t) { return std::clamp((t - 0.125) / 0.875, 0., 1.); }), 20000),
            1e-3);
  EXPECT_LT(test::ks_p(test::ks_distance(r3, [](double t) { return std::clamp(t, 0., 1.); }), 20000), 1e-6);
}

TEST(Source, MediumEmitsInTheFrameOfTheGas) {
  for (const auto& p : born("type: extended, shape: medium", ", velocity: {profile: linear, max: 100 km/s}")) {
    const double along =
        p.position[0] * p.direction[0] + p.position[1] * p.direction[1] + p.position[2] * p.direction[2];
    ASSERT_NEAR(p.frequency_initial, along * 100 / 12.8451, 1e-3);
  }
}

TEST(Source, SurfaceAndBeam) {
  for (const auto& p : born("type: extended, shape: surface, radius: 0.7 kpc")) ASSERT_NEAR(radius(p), 0.7, 1e-9);
  const auto beam = born("type: extended, shape: beam, radius: 2 kpc, direction: [0, 3, 4]");
  int met = 0;
  for (const auto& p : beam) {
    ASSERT_NEAR(p.direction[1], 0.6, 1e-12);
    met += p.column > 0;
  }
  EXPECT_NEAR(met / 20000., 0.25, 4 * std::sqrt(0.25 * 0.75 / 20000)) << "area of the sphere over that of the beam";
}

/// Directions of a cone are uniform over its solid angle; those of a beam also cross its disc evenly.
TEST(Source, Cones) {
  const double share = (1 - std::cos(40 * M_PI / 180)) / 2, half = (1 - std::cos(42 * M_PI / 180)) / 2;
  for (const char* shape : {"type: point", "type: extended, shape: beam, radius: 2 kpc"}) {
    const auto photons = born(std::string(shape) + ", direction: [0, 3, 4], opening_angle: 40 deg");
    const auto along =
        test::collect(photons, [](const Photon& p) { return p.direction[1] * 0.6 + p.direction[2] * 0.8; });
    const auto uniform = [](double share) {
      return [=](double mu) { return 1 - std::clamp((1 - mu) / 2 / share, 0., 1.); };
    };
    EXPECT_GT(test::ks_p(test::ks_distance(along, uniform(share)), 20000), 1e-3) << shape;
    EXPECT_LT(test::ks_p(test::ks_distance(along, uniform(half)), 20000), 1e-6) << shape;
    for (const double mu : along) ASSERT_GT(mu, std::cos(40 * M_PI / 180) - 1e-12);
  }
  // Where the ray crosses the disc: p - (p a/n a) n.
  for (const auto& p :
       born("type: extended, shape: beam, radius: 0.3 kpc, direction: [0, 3, 4], opening_angle: 40 deg")) {
    const double across = (p.position[1] * 0.6 + p.position[2] * 0.8) / (p.direction[1] * 0.6 + p.direction[2] * 0.8);
    double r2 = 0;
    for (int k = 0; k < 3; ++k) r2 += std::pow(p.position[k] - across * p.direction[k], 2);
    ASSERT_LT(r2, 0.09 + 1e-9);
    ASSERT_GT(p.column, 0) << "it meets the sphere";
  }
}

TEST(Source, Spectra) {
  const auto w = [](const std::string& spectrum) {
    return test::collect(born("type: point, spectrum: {" + spectrum + "}"),
                         [](const auto& p) { return -p.frequency_initial * 12.8451; });
  };
  for (const double v : w("type: delta, offset: 50 km/s")) ASSERT_NEAR(v, 50, 0.01);
  const auto normal = [](double mean, double sigma) {
    return [=](double t) { return 0.5 * std::erfc((mean - t) / (sigma * std::sqrt(2.))); };
  };
  const auto gauss = w("type: gaussian, sigma: 80 km/s, offset: 20 km/s");
  EXPECT_GT(test::ks_p(test::ks_distance(gauss, normal(20, 80)), 20000), 1e-3);
  EXPECT_LT(test::ks_p(test::ks_distance(gauss, normal(20, 88)), 20000), 1e-4);
  EXPECT_GT(
      test::ks_p(test::ks_distance(w("type: thermal, temperature: 4e4 K"), normal(0, 2 * 12.8451 / std::sqrt(2.))),
                 20000),
      1e-3);
  const auto lorentz = w("type: lorentzian, hwhm: 20 km/s, offset: -30 km/s");
  const auto cauchy = [](double width) { return [=](double t) { return 0.5 + std::atan((t + 30) / width) / M_PI; }; };
  EXPECT_GT(test::ks_p(test::ks_distance(lorentz, cauchy(20)), 20000), 1e-3);
  EXPECT_LT(test::ks_p(test::ks_distance(lorentz, cauchy(22)), 20000), 1e-4);
  const auto natural = w("type: lorentzian");  // lambda A/(4 pi) = 1215.67 Angstrom 6.265e8/s/(4 pi)
  const auto within = [&](double width) {
    return double(std::ranges::count_if(natural, [=](double v) { return std::abs(v) < width; })) / 20000;
  };
  EXPECT_NEAR(within(6.06e-3), 0.5, 4 * std::sqrt(0.25 / 20000)) << "half of it within the half width";
  const auto flat = w("type: continuum, range: [-500 km/s, 1500 km/s]");
  EXPECT_GT(test::ks_p(test::ks_distance(flat, [](double t) { return std::clamp((t + 500) / 2000, 0., 1.); }), 20000),
            1e-4);
  // 3 Angstrom of line on a continuum of 4000 km/s = 16.22 Angstrom.
  const auto both =
      w("type: line_and_continuum, sigma: 1 km/s, equivalent_width: 3 Angstrom, range: [-2000 km/s, 2000 km/s]");
  const double line = double(std::ranges::count_if(both, [](double v) { return std::abs(v) < 5; })) / 20000;
  const double share = 3 / (3 + 1215.6701 * 4000 / 299792.458);
  EXPECT_NEAR(line, share + (1 - share) * 10 / 4000, 4 * std::sqrt(share / 20000));
}

TEST(Source, OwnVelocityShiftsByDirection) {
  for (const auto& p : born("type: point, velocity: [0 km/s, 0 km/s, 100 km/s]")) {
    ASSERT_NEAR(p.frequency_initial, p.direction[2] * 100 / 12.8451, 1e-3);
  }
}

TEST(Source, OutsideTheGasIsRefused) { EXPECT_THROW(born("type: point, position: [2 kpc, 0 kpc, 0 kpc]"), Error); }

}  // namespace
