#include "thor/gridding/sources.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "thor/core/error.hpp"
#include "thor/emission/stars.hpp"

namespace thor::gridding {
namespace {

GridRegion region() {
  GridRegion r;
  r.lattice = {{10, 10, 10}, 1e20, false};
  r.frame.centre = {1e22, 1e22, 1e22};
  r.frame.velocity = {1e6, 0, 0};
  r.frame.rotation = parse_rotation("z:90", "--rotate");
  return r;
}

io::StarBlock stars() {
  io::StarBlock b;
  b.count = 2;
  b.position = {1e22 + 4e20, 1e22, 1e22, 1e22 + 6e20, 1e22, 1e22};
  b.velocity = {3e6, 0, 0, 0, 0, 0};
  b.mass = {1e36, 1e36};
  b.age = {3e6 * emission::year, 3e6 * emission::year};
  b.metallicity = {0.004, 0.004};
  return b;
}

TEST(GridSources, StarsShineByTheirIonisingRate) {
  Sources s;
  add_stars(stars(), region(), s);
  EXPECT_EQ(s.found, 2u);
  ASSERT_EQ(s.count(), 1u);
  const double rate = emission::ionizing_rate(1e36, 3e6 * emission::year, 0.004);
  EXPECT_EQ(s.made_from[0], rate);
  EXPECT_EQ(s.luminosity[0], emission::lya_of_ionizing_rate(rate));
  EXPECT_EQ(s.cut, s.luminosity[0]);  // the other one lies outside
  EXPECT_EQ(s.input, 2 * s.cut);
  EXPECT_NEAR(s.position[1], 4e20, 1e6);  // x becomes y
  EXPECT_NEAR(s.velocity[1], 20, 1e-9);
}

TEST(GridSources, TheSnapshotsRateAndBirthMassComeFirst) {
  io::StarBlock b = stars();
  b.initial_mass = {2e36, 2e36};
  Sources s;
  add_stars(b, region(), s);
  EXPECT_EQ(s.made_from[0], emission::ionizing_rate(2e36, 3e6 * emission::year, 0.004));
  b.ionizing_rate = {1e50, 1e50};
  Sources t;
  add_stars(b, region(), t);
  EXPECT_EQ(t.made_from[0], 1e50);
}

TEST(GridSources, StarsWithoutAgesAreAnError) {
  io::StarBlock b = stars();
  b.age.clear();
  Sources s;
  EXPECT_THROW(add_stars(b, region(), s), Error);
}

TEST(GridSources, BadOnesAreCounted) {
  io::StarBlock b = stars();
  b.position[0] = std::numeric_limits<double>::quiet_NaN();
  Sources s;
  add_stars(b, region(), s);
  EXPECT_EQ(s.bad, 1u);
  EXPECT_EQ(s.count(), 0u);
}

TEST(GridSources, StarFormingGasShinesByItsRate) {
  io::GasBlock b;
  b.count = 2;
  b.position = stars().position;
  b.velocity = stars().velocity;
  b.sfr = {3, 0};
  const std::vector<unsigned char> all{1, 1}, none{0, 1};
  Sources s;
  add_star_forming(b, none, region(), 0.5, s);
  EXPECT_EQ(s.count(), 0u) << "skipped as bad";
  add_star_forming(b, all, region(), 0.5, s);
  ASSERT_EQ(s.count(), 1u);
  EXPECT_NEAR(s.luminosity[0], 1.5e42, 1e30);
}

}  // namespace
}  // namespace thor::gridding
