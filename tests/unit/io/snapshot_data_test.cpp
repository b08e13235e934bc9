#include <algorithm>
#include <numeric>

#include "thor/core/constants.hpp"
#include "thor/core/cosmology.hpp"
#include "unit/io/snapshot_fixture.hpp"

/// Snapshots written by other codes.
namespace thor::io {
namespace {

using namespace test;

class SnapshotData : public SnapshotTest {
 protected:
  static double sum(const Numbers& values) { return std::accumulate(values.begin(), values.end(), 0.); }
  static double volume(const SnapshotHeader& header) { return header.box[0] * header.box[1] * header.box[2]; }
};

#define THOR_NEEDS(variable, name)         \
  const auto variable = shared_data(name); \
  if (!variable) GTEST_SKIP() << "!!! NOT TESTED: ../shared/data/" << name << " is not available"

TEST_F(SnapshotData, AllTheBaryonsOfAGadgetBox) {
  for (const char* name : {"gadget4_gas32_z2.hdf5", "gadget4_gas32_z3.hdf5"}) {
    THOR_NEEDS(path, name);
    const Snapshot snapshot(*path);
    const SnapshotHeader& header = snapshot.header();
    ASSERT_EQ(snapshot.gas_count(), 32768u);
    EXPECT_NEAR(header.box[0], 50e6 * constants::pc / 0.7 * header.scale_factor, 1e-6 * header.box[0]);
    const GasBlock g = gas(snapshot, 5000);
    EXPECT_NEAR(sum(g.mass), 32768 * 4.23507638 * 1.989e43 / 0.7, 1e-8 * sum(g.mass));

    // The mean density is Omega_b = 0.04 of today's critical density, times (1 + z)^3.
    const auto of_critical = [&](double h) {
      const double H0 = Cosmology{.h = h, .omega_m = 0.3, .omega_lambda = 0.7}.hubble(0), G = 6.6743e-8;
      const double critical = 3 * H0 * H0 / (8 * constants::pi * G);
      return sum(g.mass) / volume(header) * std::pow(header.scale_factor, 3) / critical;
    };
    EXPECT_NEAR(of_critical(0.7), 0.04, 0.04 * 2e-3);
    EXPECT_GT(std::abs(of_critical(0.71) - 0.04), 0.04 * 2e-3);

    // Each particle has 64 neighbours (DesNumNgb, to one) in its kernel: half the length would make it 8.
    for (std::size_t i = 0; i < g.count; i += 97) {
      const double inside = 4 * constants::pi / 3 * std::pow(g.smoothing_length[i], 3) * g.density[i] / g.mass[i];
      EXPECT_NEAR(inside, 64, 1.1) << i;
    }
    for (std::size_t i = 0; i < g.position.size(); ++i)
      ASSERT_TRUE(g.position[i] >= 0 && g.position[i] <= header.box[0]);
    // Peculiar velocities in a box of this size: a few hundred km/s.
    const double rms =
        std::sqrt(std::inner_product(g.velocity.begin(), g.velocity.end(), g.velocity.begin(), 0.) / 32768);
    EXPECT_GT(rms, 100e5);
    EXPECT_LT(rms, 500e5);
    EXPECT_FALSE(snapshot.has("neutral"));
  }
}

TEST_F(SnapshotData, BadCellsOfArepoAreHandedOn) {
  THOR_NEEDS(path, "arepo_ic_with_nan.hdf5");
  const Snapshot snapshot(*path);
  EXPECT_FALSE(snapshot.header().cosmological);
  EXPECT_DOUBLE_EQ(snapshot.header().h, 1);
  const GasBlock g = gas(snapshot, 10000);
  EXPECT_EQ(g.count, 81655u);
  EXPECT_EQ(std::ranges::count_if(g.density, [](double d) { return std::isnan(d); }), 3840);
  EXPECT_EQ(std::ranges::count(g.density, 0.), 25524);
  EXPECT_EQ(std::ranges::count(g.mass, 0.), 3688);
  EXPECT_NEAR(snapshot.header().box[0], 3000 * 3.085678e21, 1e20);
}

TEST_F(SnapshotData, ACamelsSubsetHasStarsButNoDensity) {
  THOR_NEEDS(path, "camels_tng_subset.hdf5");
  EXPECT_TRUE(contains(open_error(*path), "--assume-tng-units"));
  const Snapshot snapshot(*path, {.assume_tng_units = true});
  EXPECT_NEAR(snapshot.header().redshift, 0.10005, 1e-5);
  EXPECT_DOUBLE_EQ(snapshot.header().omega_lambda, 0.7);
  EXPECT_EQ(snapshot.header().box[0], 0);
  EXPECT_EQ(snapshot.gas_count(), 269u);
  EXPECT_TRUE(contains(gas_error(*path, {.assume_tng_units = true}), "/PartType0/Density is missing"));
  const StarBlock s = stars(snapshot);
  ASSERT_EQ(s.count, 3479u);
  const double gigayear = 3.15576e16;
  EXPECT_GT(*std::ranges::min_element(s.age), 0);
  EXPECT_LT(*std::ranges::max_element(s.age), 12.5 * gigayear);
  for (std::size_t i = 0; i < s.count; ++i) ASSERT_GE(s.initial_mass[i], s.mass[i]);
}

TEST_F(SnapshotData, AnOldSwiftFile) {
  THOR_NEEDS(path, "swift_style.hdf5");
  const Snapshot snapshot(*path);
  EXPECT_EQ(snapshot.header().code, "SWIFT");
  EXPECT_FALSE(snapshot.header().cosmological);
  EXPECT_DOUBLE_EQ(snapshot.header().box[2], 100);
  const GasBlock g = gas(snapshot, 30);
  ASSERT_EQ(g.count, 100u);
  EXPECT_NEAR(g.internal_energy[0], 1.2e4, 3.1e3);
  // 48 neighbours ("Kernel target N_ngb" 47.995) are in the kernel, not in SWIFT's smoothing length: that has 8.
  const double mean = sum(g.smoothing_length) / 100;
  EXPECT_NEAR(4 * constants::pi / 3 * std::pow(mean, 3) * 100 / volume(snapshot.header()), 48, 1);
  const StarBlock s = stars(snapshot);
  ASSERT_EQ(s.count, 1u);
  EXPECT_DOUBLE_EQ(s.mass[0], 1000);
  EXPECT_DOUBLE_EQ(s.position[0], 50);
}

}  // namespace
}  // namespace thor::io
