#include "unit/io/snapshot_fixture.hpp"

/// Where units, time and cosmology come from.
namespace thor::io {
namespace {

using namespace test;

class SnapshotCodeUnits : public SnapshotTest {};

TEST_F(SnapshotCodeUnits, AreNeverGuessed) {
  const auto path = tng("snap.hdf5", {.units = false});
  const std::string message = open_error(path);
  for (const char* part : {"snap.hdf5", "--unit-length", "--unit-mass", "--unit-velocity", "--assume-tng-units"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
  const Snapshot assumed(path, {.assume_tng_units = true});
  EXPECT_TRUE(noted(assumed, "--assume-tng-units"));
  const GasBlock expected = gas(Snapshot(tng("whole.hdf5")));
  EXPECT_EQ(gas(assumed).position, expected.position);
  EXPECT_EQ(gas(assumed).velocity, expected.velocity);
  EXPECT_EQ(gas(assumed).mass, expected.mass);

  // The same if one of the three is missing.
  EXPECT_TRUE(contains(open_error(path, {.unit_length = kpc, .unit_mass = mass}), "velocity"));
}

TEST_F(SnapshotCodeUnits, OfTheUserGoAboveAll) {
  const auto path = tng("snap.hdf5", {}, [](SnapshotFile& file) {
    file.scale("/PartType0/Coordinates", kpc, 1, -1).scale("/PartType0/Masses", mass, 0, -1);
  });
  const GasBlock was = gas(Snapshot(path));
  const GasBlock now = gas(Snapshot(path, {.unit_length = 1000 * kpc, .unit_mass = 2 * mass, .unit_velocity = 3 * km}));
  expect_near(now.position, times(was.position, 1000), 1e-12);
  expect_near(now.mass, times(was.mass, 2), 1e-12);
  expect_near(now.velocity, times(was.velocity, 3), 1e-12);
  expect_near(now.density, times(was.density, 2e-9), 1e-12);
  expect_near(now.internal_energy, times(was.internal_energy, 9), 1e-12);
}

TEST_F(SnapshotCodeUnits, ToCgsOfZeroIsNone) {
  const auto path = tng("snap.hdf5", {}, [](SnapshotFile& file) { file.scale("/PartType0/Masses", 0, 0, 0); });
  EXPECT_EQ(gas(Snapshot(path)).mass, gas(Snapshot(tng("plain.hdf5"))).mass);
}

TEST_F(SnapshotCodeUnits, MustBePositive) {
  const auto path = tng("snap.hdf5", {.units = false}, [](SnapshotFile& file) {
    file.set("/Header", "UnitLength_in_cm", 0.).set("/Header", "UnitMass_in_g", mass);
    file.set("/Header", "UnitVelocity_in_cm_per_s", km);
  });
  EXPECT_TRUE(contains(open_error(path), "/Header@UnitLength_in_cm is 0"));
  const auto nan = tng("nan.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Header", "HubbleParam", std::nan("")).set("/Header", "Redshift", 1.);
  });
  EXPECT_TRUE(contains(open_error(nan), "/Header@HubbleParam is nan"));
  EXPECT_THROW(Snapshot(tng("whole.hdf5"), {.unit_length = -1}), Error);
}

TEST_F(SnapshotCodeUnits, MustNotContradictEachOther) {
  const auto with = [&](double length) {
    return tng("snap.hdf5", {}, [&](SnapshotFile& file) { file.set("/Parameters", "UnitLength_in_cm", length); });
  };
  EXPECT_TRUE(Snapshot(with(3.086e21)).header().warnings.empty()) << "the same, rounded";
  const std::string text = open_error(with(3.086e24));
  for (const char* part : {"/Header@UnitLength_in_cm", "/Parameters@UnitLength_in_cm", "contradict", "--unit-length"}) {
    EXPECT_TRUE(contains(text, part)) << text;
  }
  EXPECT_TRUE(Snapshot(with(3.086e24), {.unit_length = kpc}).header().warnings.empty());
}

TEST_F(SnapshotCodeUnits, OfADatasetThatContradictTheHeader) {
  const auto with = [&](double length, double weight) {
    return tng("snap.hdf5", {}, [&](SnapshotFile& file) {
      file.scale("/PartType0/Coordinates", length, 1, -1).scale("/PartType0/Masses", weight, 0, -1);
    });
  };
  EXPECT_TRUE(Snapshot(with(kpc, 1.98841e43)).header().warnings.empty());
  const Snapshot snapshot(with(1000 * kpc, mass));
  ASSERT_EQ(snapshot.header().warnings.size(), 1u);
  const std::string& text = snapshot.header().warnings[0];
  for (const char* part :
       {"/PartType0/Coordinates", "3.08568e+24 cm", "3.08568e+21 cm", "contradict", "--unit-length"}) {
    EXPECT_TRUE(contains(text, part)) << text;
  }
  expect_near(gas(snapshot).position, times(gas(Snapshot(tng("plain.hdf5"))).position, 1000), 1e-12);
}

class SnapshotTime : public SnapshotTest {};

TEST_F(SnapshotTime, ComovingOrNot) {
  const auto path = tng("snap.hdf5");
  const GasBlock comoving = gas(Snapshot(path));
  const Snapshot physical(path, {.comoving = false});
  EXPECT_TRUE(physical.header().cosmological);
  EXPECT_DOUBLE_EQ(physical.header().redshift, 1);
  const GasBlock g = gas(physical);
  expect_near(g.position, times(comoving.position, 2), 1e-12);
  expect_near(g.velocity, times(comoving.velocity, std::sqrt(2.)), 1e-12);
  expect_near(g.density, times(comoving.density, 0.125), 1e-12);
}

TEST_F(SnapshotTime, OfARunThatIsNotCosmological) {
  const Snapshot snapshot(tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Header", "Time", 0.3).set("/Header", "Redshift", 0.).set("/Header", "Omega0", 0.);
    file.set("/Parameters", "ComovingIntegrationOn", 0.);
  }));
  EXPECT_FALSE(snapshot.header().cosmological);
  EXPECT_DOUBLE_EQ(snapshot.header().redshift, 0);
  expect_near(gas(snapshot).position, times({1, 2, 3, 4, 5, 6, 7, 8, 9}, kpc), 1e-12);
  expect_near(gas(snapshot).velocity, times({10, 20, 30, -10, 0, 0, 1, 1, 1}, km), 1e-12);
  // The same without the flag: Time is not a scale factor if it is more than 1, or without matter.
  for (const auto& [time, matter] : {std::pair{3., 0.3}, std::pair{0.3, 0.}}) {
    const Snapshot silent(tng("silent.hdf5", {.cosmology = false}, [&](SnapshotFile& file) {
      file.set("/Header", "Time", time).set("/Header", "Redshift", 0.).set("/Header", "Omega0", matter);
    }));
    EXPECT_FALSE(silent.header().cosmological);
  }
}

// If it could be either, the user is asked.
TEST_F(SnapshotTime, ThatMayBeAScaleFactorIsNotGuessed) {
  const auto path = tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Header", "Time", 0.25).set("/Header", "Redshift", 0.).set("/Header", "Omega0", 0.3);
  });
  EXPECT_TRUE(contains(open_error(path), "contradict"));
  EXPECT_TRUE(contains(open_error(path), "--comoving no"));
  EXPECT_FALSE(Snapshot(path, {.comoving = false}).header().cosmological);
  EXPECT_TRUE(contains(open_error(path, {.comoving = true}), "--redshift"));
  EXPECT_DOUBLE_EQ(Snapshot(path, {.redshift = 3, .comoving = true}).header().scale_factor, 0.25);
  const auto flag = tng("flag.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Parameters", "ComovingIntegrationOn", 0.).set("/Header", "Redshift", 3.);
  });
  EXPECT_TRUE(contains(open_error(flag), "contradict"));
  EXPECT_FALSE(Snapshot(flag, {.comoving = false}).header().cosmological);
}

TEST_F(SnapshotTime, HIsNotH0) {
  for (const double h : {70., 67.74, 0.1, 0., -0.7}) {
    const auto path = tng("snap.hdf5", {}, [&](SnapshotFile& file) { file.set("/Header", "HubbleParam", h); });
    EXPECT_TRUE(contains(open_error(path), "/Header@HubbleParam is")) << h;
    EXPECT_TRUE(contains(open_error(path), "not H0")) << h;
    EXPECT_DOUBLE_EQ(Snapshot(path, {.h = 0.7}).header().h, 0.7);
    EXPECT_THROW(Snapshot(tng("good.hdf5"), {.h = h}), Error) << h;
  }
  for (const double h : {0.5, 0.7, 1.}) {
    const auto path = tng("snap.hdf5", {}, [&](SnapshotFile& file) { file.set("/Header", "HubbleParam", h); });
    EXPECT_DOUBLE_EQ(Snapshot(path).header().h, h);
  }
}

TEST_F(SnapshotTime, AloneIsTheScaleFactorIfThereIsMatter) {
  const Snapshot snapshot(tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Header", "Time", 0.25).set("/Header", "Omega0", 0.3).set("/Header", "HubbleParam", 0.7);
  }));
  EXPECT_TRUE(snapshot.header().cosmological);
  EXPECT_DOUBLE_EQ(snapshot.header().redshift, 3);
  EXPECT_TRUE(noted(snapshot, "scale factor"));
  EXPECT_DOUBLE_EQ(snapshot.header().omega_lambda, 0.7);
  EXPECT_TRUE(noted(snapshot, "flat"));
}

TEST_F(SnapshotTime, MustNotContradictItself) {
  const auto path = tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Header", "Time", 0.25).set("/Header", "Redshift", 1.).set("/Header", "HubbleParam", 0.7);
  });
  EXPECT_TRUE(contains(open_error(path), "contradict"));
  EXPECT_DOUBLE_EQ(Snapshot(path, {.redshift = 3}).header().scale_factor, 0.25);
}

TEST_F(SnapshotTime, IsAskedForWhereItIsMissing) {
  const auto path = tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Parameters", "ComovingIntegrationOn", 1.).set("/Header", "HubbleParam", 0.7);
  });
  EXPECT_TRUE(contains(open_error(path), "--redshift"));
  EXPECT_DOUBLE_EQ(Snapshot(path, {.redshift = 3}).header().scale_factor, 0.25);
  const auto nothing = tng("nothing.hdf5", {.cosmology = false});
  EXPECT_TRUE(contains(open_error(nothing, {.redshift = 3}), "--comoving"));
  EXPECT_FALSE(Snapshot(nothing).header().cosmological);
  EXPECT_DOUBLE_EQ(Snapshot(nothing, {.redshift = 3, .comoving = true}).header().scale_factor, 0.25);
  const auto zero = tng("zero.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Parameters", "ComovingIntegrationOn", 1.).set("/Header", "Time", 0.);
  });
  EXPECT_TRUE(contains(open_error(zero), "not a scale factor"));
}

TEST_F(SnapshotTime, PlanckIsTheDefaultAndSaidSo) {
  const Snapshot snapshot(tng("snap.hdf5", {.cosmology = false}, [](SnapshotFile& file) {
    file.set("/Parameters", "ComovingIntegrationOn", 1.).set("/Header", "Redshift", 1.);
  }));
  EXPECT_DOUBLE_EQ(snapshot.header().h, 0.6774);
  EXPECT_DOUBLE_EQ(snapshot.header().omega_m, 0.3089);
  EXPECT_DOUBLE_EQ(snapshot.header().omega_lambda, 0.6911);
  EXPECT_TRUE(noted(snapshot, "h = 0.6774: the file has none; Planck 2015"));
  expect_near(gas(snapshot).mass, times({0.25, 0.5, 1}, mass / 0.6774), 1e-12);
  const Snapshot said(tng("said.hdf5"), {.h = 0.5, .omega_m = 0.25, .omega_lambda = 0.75, .box = 1e24});
  EXPECT_DOUBLE_EQ(said.header().omega_m, 0.25);
  EXPECT_DOUBLE_EQ(said.header().box[2], 1e24);
  expect_near(gas(said).mass, times({0.25, 0.5, 1}, mass / 0.5), 1e-12);
}

}  // namespace
}  // namespace thor::io
