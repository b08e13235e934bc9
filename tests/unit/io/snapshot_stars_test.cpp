#include "thor/core/cosmology.hpp"
#include "unit/io/snapshot_fixture.hpp"

namespace thor::io {
namespace {

using namespace test;

class SnapshotStars : public SnapshotTest {
 protected:
  std::filesystem::path write(const char* birth_name, const Numbers& birth) {
    return tng("snap.hdf5", {}, [&](SnapshotFile& file) {
      const std::size_t n = birth.size();
      Numbers position, mass_now, at_birth;
      for (std::size_t i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k) position.push_back(double(10 * i + k));
        mass_now.push_back(0.5 + double(i));
        at_birth.push_back(1 + double(i));
      }
      file.put("/PartType4/Coordinates", position, 3).put("/PartType4/Velocities", position, 3);
      file.put("/PartType4/Masses", mass_now).put("/PartType4/GFM_InitialMass", at_birth);
      file.put("/PartType4/GFM_Metallicity", Numbers(n, 0.02)).put<double>("/PartType4/IonizingRate", Numbers(n, 1e49));
      file.put<double>(std::string("/PartType4/") + birth_name, birth);
    });
  }
};

TEST_F(SnapshotStars, AgesByCosmology) {
  const Numbers birth = {0.49, 0.4, 0.1, 0.5, 0.4999, 0.5 * (1 + 1e-7)};
  const StarBlock s = stars(Snapshot(write("GFM_StellarFormationTime", birth)));
  const Cosmology cosmology{.h = 0.7, .omega_m = 0.3, .omega_lambda = 0.7};
  const double year = 3.15576e7;
  ASSERT_EQ(s.age.size(), birth.size());
  for (std::size_t i = 0; i < birth.size(); ++i) {
    const double exact = birth[i] > 0.5 ? 0 : cosmology.age(1) - cosmology.age(1 / birth[i] - 1);
    EXPECT_NEAR(s.age[i], exact, 200 * year) << birth[i];
    const Cosmology other{.h = 0.7, .omega_m = 0.31, .omega_lambda = 0.69};
    if (exact > 1e6 * year) {
      EXPECT_GT(std::abs(s.age[i] - (other.age(1) - other.age(1 / birth[i] - 1))), 1000 * year);
    }
  }
  EXPECT_EQ(s.age[5], 0);  // later than now because of rounding
  expect_near(s.position, [] {
    Numbers expected;
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 3; ++k) expected.push_back((10 * i + k) * kpc * 0.5 / 0.7);
    }
    return expected;
  }());
  EXPECT_NEAR(s.mass[2], 2.5 * mass / 0.7, 1e-6 * s.mass[2]);
  EXPECT_NEAR(s.initial_mass[2], 3 * mass / 0.7, 1e-6 * s.mass[2]);
  EXPECT_DOUBLE_EQ(s.ionizing_rate[0], 1e49);
  EXPECT_NEAR(s.metallicity[5], 0.02, 1e-8);
}

TEST_F(SnapshotStars, WindIsLeftOut) {
  const Snapshot snapshot(write("GFM_StellarFormationTime", {0.4, -0.3, 0.3, 0, -0.1}));
  EXPECT_EQ(snapshot.star_count(), 2u);
  const StarBlock whole = stars(snapshot);
  expect_near(whole.mass, times({0.5, 2.5}, mass / 0.7));
  expect_near(Numbers(whole.position.begin() + 3, whole.position.end()), times({20, 21, 22}, kpc * 0.5 / 0.7));
  for (const std::size_t size : {1, 2, 3}) EXPECT_EQ(stars(snapshot, size).age, whole.age);

  // A birth before the beginning does not mark wind in other codes.
  const Snapshot other(write("StellarFormationTime", {0.4, -1, 0.3}));
  EXPECT_EQ(other.star_count(), 3u);
  const Cosmology cosmology{.h = 0.7, .omega_m = 0.3, .omega_lambda = 0.7};
  EXPECT_NEAR(stars(other).age[1], cosmology.age(1), 1e-6 * cosmology.age(1));
}

TEST_F(SnapshotStars, TimeIsTimeInARunThatIsNotCosmological) {
  const auto write_isolated = [&](bool with_time) {
    return tng("snap.hdf5", {.cosmology = false}, [&](SnapshotFile& file) {
      file.set("/Header", "HubbleParam", 1.).set("/Parameters", "ComovingIntegrationOn", 0.);
      if (with_time) file.set("/Header", "Time", 2.);
      file.put("/PartType4/Coordinates", {1, 2, 3}, 3).put("/PartType4/StellarFormationTime", {1.5});
    });
  };
  const StarBlock s = stars(Snapshot(write_isolated(true)));
  expect_near(s.age, {0.5 * kpc / km});
  EXPECT_TRUE(s.mass.empty());
  const Snapshot timeless(write_isolated(false));
  EXPECT_TRUE(stars(timeless).age.empty());
  EXPECT_TRUE(noted(timeless, "ages of its stars are unknown"));
}

TEST_F(SnapshotStars, MassFromTheTable) {
  const Snapshot snapshot(tng("snap.hdf5", {}, [](SnapshotFile& file) {
    file.put("/PartType4/Coordinates", {1, 2, 3, 4, 5, 6}, 3).put("/PartType4/GFM_StellarFormationTime", {-1, 0.3});
    file.set("/Header", "MassTable", Numbers{0, 0, 0, 0, 3, 0});
  }));
  expect_near(stars(snapshot).mass, {3 * mass / 0.7});
}

TEST_F(SnapshotStars, NeedAPlace) {
  const auto path = tng("snap.hdf5", {}, [](SnapshotFile& file) { file.put("/PartType4/Masses", {1, 2}); });
  const Snapshot snapshot(path);
  EXPECT_EQ(gas(snapshot).count, 3u);
  EXPECT_TRUE(contains(error([&] { snapshot.for_each_star(10, [](const StarBlock&) {}); }), "/PartType4/Coordinates"));
}

}  // namespace
}  // namespace thor::io
