// A dataset type that is one file and one entry of a list: what CONTRIBUTING.md promises of it.
#include <gtest/gtest.h>

#include <cmath>

#include "support/march.hpp"
#include "thor/datasets/dataset_type.hpp"

namespace thor {
namespace {

std::string cube(const std::string& more = "") {
  return "line: Lya\ndataset: {type: cube, edge: 2 kpc, resolution: 9, temperature: 1e4 K, tau0: 50" + more +
         "}\ngenerators: [{type: point, photons: 200}]\noutput: {path: x.h5}\n";
}

TEST(CubeDataset, IsInTheListOfTypes) {
  EXPECT_STREQ(dataset_type("cube").name, "cube");
  EXPECT_EQ(dataset_types().size(), 6u);
}

TEST(CubeDataset, HasTheDepthOfHalfItsEdge) {
  const auto config = config::parse(cube(), "test");
  const auto setup = build_setup(config);
  const double diagonal = 1 / std::sqrt(3.);
  const std::vector<test::Ray> rays{{{0.01, 0.02, 0.03}, {0, 0, 1}, 0}, {{0, 0, 0}, {diagonal, diagonal, diagonal}, 0}};
  const auto depths = test::march(choose_problem<double>(config, setup, setup.medium.dataset), setup.medium, rays);
  const double a = setup.medium.a, h0 = std::exp(a * a) * std::erfc(a);  // H(a, 0)
  EXPECT_NEAR(depths[0].sum / h0, 50 * (1 - 0.03 / 4.5), 5e-3);          // 4.5 cells to the face
  EXPECT_NEAR(depths[1].sum / h0, 50 * std::sqrt(3.), 1e-2);
  EXPECT_NEAR(setup.medium.number_density * 3.0857e21 * setup.medium.cross_section, 50, 0.01);
}

TEST(CubeDataset, LetsEveryPhotonOut) {
  const auto photons = test::run(cube());
  ASSERT_EQ(photons.size(), 200u);
  for (const Photon& p : photons) EXPECT_EQ(p.fate, Phase::escaped);
}

TEST(CubeDataset, DustAbsorbs) {
  EXPECT_LT(test::escape_fraction(test::run(cube(", dust: {tau: 1, albedo: 0}"))), 0.9);
}

TEST(CubeDataset, RefusesWhatItDoesNotKnow) {
  for (const char* key : {", velocity: {profile: linear, max: 10 km/s}", ", outer_radius: 1 kpc", ", path: x.h5"}) {
    EXPECT_THROW(config::parse(cube(key), "test"), Error) << key;
  }
}

}  // namespace
}  // namespace thor
