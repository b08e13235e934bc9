#include "thor/outputs/profile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "thor/io/array/input.hpp"
#include "thor/outputs/tally.hpp"

namespace profile_test {

using namespace thor;

constexpr double pc = constants::pc;

/// An observer on the x axis; lengths of lanes in units of 2 pc.
OutputContext context(Distances distances = {}) {
  return {[](const std::string&) {
            return FrequencyAxis{1e6, 1215.67e-8};
          },
          2 * pc,
          {{"edge", {3, 0, 0}, {0, 0, 1}}},
          7,
          distances};
}
ProfileOutput profile() {
  ProfileOutput output;
  output.name = "halo", output.radius = 4 * pc, output.bins = 4;
  output.sight.observer = "edge", output.sight.centre = {5 * pc, 1 * pc, 0};
  return output;
}
Seen seen(double y, double z, double light) { return {7, 0, false, light, 0, {-3, y / 2, z / 2}, 0}; }

struct File {
  std::string path;
  explicit File(const char* ending)
      : path((std::filesystem::temp_directory_path() / ("thor_rings_" + std::to_string(getpid()) + ending)).string()) {}
  ~File() { std::filesystem::remove_all(path); }
};

class ProfileTest : public testing::TestWithParam<const char*> {};

TEST_P(ProfileTest, HasTheLightOfItsRings) {
  Tally tally({profile()}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1, 0.5, 1));         // 0.5 pc above the centre
  part.accept(seen(1 - 0.6, -0.8, 2));  // 1 pc from it, on the edge: in the second ring
  part.accept(seen(1 + 3.9, 0, 4));
  part.accept(seen(1, 4.1, 8));  // beyond
  part.join_histories({});
  tally.merge(part);
  const File file(GetParam());
  io::ArrayOutput out(file.path, true);
  tally.write(out);
  out.commit(true);
  const io::Input in(file.path);
  const auto edges = in.read_all<double>("/profiles/halo/edges");
  const auto brightness = in.read_all<double>("/profiles/halo/surface_brightness");
  ASSERT_EQ(edges.size(), 5u);
  ASSERT_EQ(brightness.size(), 4u);
  const double light[] = {1, 2, 0, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(edges[i], 1e-3 * double(i), 1e-15);
    const double area = constants::pi * (2 * double(i) + 1) * 1e-6;  // [kpc^2]
    EXPECT_NEAR(brightness[i] * area, light[i], 1e-9) << i;
  }
  EXPECT_NEAR(*in.number("/profiles/halo", "luminosity_beyond"), 8, 1e-9);
  EXPECT_EQ(in.text("/profiles/halo", "observer"), "edge");
  EXPECT_EQ(in.text("/profiles/halo", "estimator"), "peel");
  EXPECT_EQ(in.text("/profiles/halo/edges", "units"), "kpc");
  EXPECT_EQ(in.text("/profiles/halo/surface_brightness", "units"), "erg s-1 kpc-2");
}

INSTANTIATE_TEST_SUITE_P(Formats, ProfileTest, testing::Values(".h5", ".zarr"),
                         [](const auto& info) { return std::string(info.param).substr(1); });

/// With distances: flux L/(4 pi d_L^2) per square arcsecond of d_A.
TEST(ProfileOutput, IsAFluxOnASky) {
  const double mpc = 1e6 * pc;
  Tally tally({profile()}, context({1, 40 * mpc, 10 * mpc}), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1, 0.5, 3));
  part.join_histories({});
  tally.merge(part);
  const File file(".h5");
  io::ArrayOutput out(file.path, true);
  tally.write(out);
  out.commit(true);
  const io::Input in(file.path);
  const double side = 206264.80624709636 / 1e7;  // arcsec that 1 pc is at 10 Mpc
  EXPECT_NEAR(in.read_all<double>("/profiles/halo/edges")[1], side, 1e-12);
  const double flux = 3 / (4 * constants::pi * 1600 * mpc * mpc), area = constants::pi * side * side;
  EXPECT_NEAR(in.read_all<double>("/profiles/halo/surface_brightness")[0] / (flux / area), 1, 1e-9);
  EXPECT_EQ(in.text("/profiles/halo/edges", "units"), "arcsec");
  EXPECT_EQ(in.text("/profiles/halo/surface_brightness", "units"), "erg s-1 cm-2 arcsec-2");
}

TEST(ProfileOutput, HasRingsOfEqualRatio) {
  ProfileOutput output = profile();
  output.inner = 0.04 * pc, output.bins = 2, output.logarithmic = true;
  Tally tally({output}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1, 0.03, 1));  // inside the first ring
  part.accept(seen(1, 0.39, 2)), part.accept(seen(1, 0.41, 4));
  part.join_histories({});
  tally.merge(part);
  const BinnedLight light = tally.binned(0);
  EXPECT_NEAR(light.beyond, 1, 1e-12);
  EXPECT_NEAR(light.light[0], 2, 1e-12);
  EXPECT_NEAR(light.light[1], 4, 1e-12);
}

}  // namespace profile_test
