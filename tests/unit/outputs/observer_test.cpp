#include "thor/outputs/observer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "thor/core/constants.hpp"

namespace {

using namespace thor;

std::vector<config::Observer> members(std::uint64_t random, std::uint64_t healpix, std::uint64_t seed = 1,
                                      std::size_t place = 0) {
  config::Observer set{"all", {}, {0, 1, 0}};
  set.random = random, set.healpix = healpix;
  return members_of(set, seed, place);
}

/// The twelve pixels of N_side = 1: z = 2/3, 0 and -2/3 (Gorski et al. 2005, figure 3).
TEST(ObserverSets, HaveTheTwelvePixelsOfHealpix) {
  const auto twelve = members(0, 1);
  ASSERT_EQ(twelve.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    const auto& n = twelve[i].direction;
    EXPECT_NEAR(n[2], i < 4 ? 2. / 3 : i < 8 ? 0 : -2. / 3, 1e-15) << i;
    const double phi = constants::pi / 4 * (2 * double(i % 4) + (i < 4 || i >= 8));
    EXPECT_NEAR(std::cos(phi), n[0] / std::hypot(n[0], n[1]), 1e-14) << i;
    EXPECT_NEAR(std::sin(phi), n[1] / std::hypot(n[0], n[1]), 1e-14) << i;
    EXPECT_EQ(twelve[i].name, "all." + std::to_string(i));
  }
}

/// First and last pixels of rings in both caps and in the belt, N_side = 4, from the fractions of the formulas: every
/// other ring of the belt begins at a longitude of 0.
TEST(ObserverSets, HaveTheOrderOfHealpix) {
  struct Pixel {
    std::size_t index;
    double z, phi;  ///< phi in units of pi
  };
  const auto pixels = members(0, 4);
  ASSERT_EQ(pixels.size(), 192u);
  for (const auto& [i, z, phi] : {Pixel{0, 47. / 48, 0.25},
                                  {4, 11. / 12, 0.125},
                                  {12, 13. / 16, 1. / 12},
                                  {24, 2. / 3, 1. / 16},
                                  {40, 0.5, 0},
                                  {56, 1. / 3, 1. / 16},
                                  {88, 0, 1. / 16},
                                  {152, -2. / 3, 1. / 16},
                                  {168, -13. / 16, 1. / 12},
                                  {191, -47. / 48, 1.75}}) {
    const auto& n = pixels[i].direction;
    EXPECT_NEAR(n[2], z, 1e-14) << i;
    EXPECT_NEAR(std::atan2(n[1], n[0]), phi > 1 ? (phi - 2) * constants::pi : phi * constants::pi, 1e-13) << i;
  }
}

/// Pixels of equal area have the moments of a sphere: sum of z is 0, of z^2 near N/3, and all are apart.
TEST(ObserverSets, AreSpreadEvenly) {
  for (const std::uint64_t sides : {1, 2, 3, 5, 8}) {
    const auto pixels = members(0, sides);
    ASSERT_EQ(pixels.size(), 12 * sides * sides);
    double sum[3] = {}, squares[3] = {};
    std::set<std::pair<long, long>> places;
    for (const auto& p : pixels) {
      for (std::size_t k = 0; k < 3; ++k) sum[k] += p.direction[k], squares[k] += p.direction[k] * p.direction[k];
      places.insert({std::lround(1e6 * p.direction[2]), std::lround(1e6 * std::atan2(p.direction[1], p.direction[0]))});
    }
    EXPECT_EQ(places.size(), pixels.size());
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(sum[k], 0, 1e-11) << sides;
      EXPECT_NEAR(squares[k] / double(pixels.size()), 1. / 3, 0.04 / double(sides * sides)) << sides;
    }
  }
}

TEST(ObserverSets, LookUpwardFromEverywhere) {
  for (const auto& set : {members(0, 1), members(0, 2), members(200, 0)}) {
    for (const auto& observer : set) {
      const SkyFrame sky = sky_of(set, observer.name, 1);
      double right = 0, up = 0, across = 0;
      for (int k = 0; k < 3; ++k) {
        right += sky.right[k] * sky.right[k], up += sky.up[k] * sky.up[k], across += sky.up[k] * sky.towards[k];
      }
      EXPECT_NEAR(right, 1, 1e-12);
      EXPECT_NEAR(up, 1, 1e-12);
      EXPECT_NEAR(across, 0, 1e-12);
    }
  }
}

/// Random directions are uniform on the sphere, and depend on the seed and on which set they are of.
TEST(ObserverSets, AreRandomBySeed) {
  const auto set = members(3000, 0);
  double sum[3] = {}, squares[3] = {};
  for (const auto& o : set) {
    for (std::size_t k = 0; k < 3; ++k)
      sum[k] += o.direction[k] / 3000, squares[k] += std::pow(o.direction[k], 2) / 3000;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(sum[k], 0, 4 * std::sqrt(1. / 3 / 3000));
    EXPECT_NEAR(squares[k], 1. / 3, 4 * std::sqrt(4. / 45 / 3000));
  }
  EXPECT_EQ(set, members(3000, 0));
  EXPECT_NE(set[0].direction, members(3000, 0, 2)[0].direction);
  EXPECT_NE(set[0].direction, members(3000, 0, 1, 1)[0].direction);
}

TEST(ObserverSets, ASingleObserverIsItself) {
  const config::Observer one{"face", {0, 0, 1}, {0, 1, 0}};
  EXPECT_EQ(members_of(one, 1, 0), std::vector<config::Observer>{one});
}

}  // namespace
