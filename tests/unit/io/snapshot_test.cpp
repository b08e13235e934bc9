#include "thor/io/snapshot/snapshot.hpp"

#include "unit/io/snapshot_fixture.hpp"

/// Snapshots in the layouts of TNG, Gadget-4 and EAGLE: values, units, and substitutes for missing fields.
namespace thor::io {
namespace {

using namespace test;

class SnapshotGadget : public SnapshotTest {};

TEST_F(SnapshotGadget, TngUnitsByCustom) {
  const Snapshot snapshot(tng("snap.hdf5"));
  const SnapshotHeader& header = snapshot.header();
  EXPECT_EQ(header.code, "Gadget/AREPO");
  EXPECT_TRUE(header.cosmological);
  EXPECT_DOUBLE_EQ(header.scale_factor, 0.5);
  EXPECT_DOUBLE_EQ(header.h, 0.7);
  EXPECT_DOUBLE_EQ(header.omega_m, 0.3);
  EXPECT_DOUBLE_EQ(header.omega_lambda, 0.7);
  for (const double side : header.box) EXPECT_NEAR(side, 1000 * kpc * 0.5 / 0.7, 1e-9 * side);
  EXPECT_TRUE(noted(snapshot, "/Header@UnitLength_in_cm"));

  const GasBlock g = gas(snapshot);
  expect_near(g.position, times({1, 2, 3, 4, 5, 6, 7, 8, 9}, kpc * 0.5 / 0.7), 1e-12);
  expect_near(g.velocity, times({10, 20, 30, -10, 0, 0, 1, 1, 1}, km * std::sqrt(0.5)), 1e-12);
  expect_near(g.mass, times({0.25, 0.5, 1}, mass / 0.7), 1e-12);
  expect_near(g.density, times({1, 2, 4}, mass / std::pow(kpc, 3) * 0.49 / 0.125), 1e-12);
  expect_near(g.internal_energy, times({100, 200, 400}, km * km), 1e-12);
  EXPECT_TRUE(g.neutral.empty() && g.temperature.empty() && g.smoothing_length.empty());
  EXPECT_TRUE(snapshot.has("density") && snapshot.has("velocity"));
  EXPECT_FALSE(snapshot.has("neutral") || snapshot.has("nonsense"));
}

TEST_F(SnapshotGadget, BlocksDoNotMatter) {
  const Snapshot snapshot(tng("snap.hdf5"));
  const GasBlock whole = gas(snapshot);
  for (const std::size_t size : {1u, 2u, 3u, 4u}) {
    const GasBlock g = gas(snapshot, size);
    EXPECT_EQ(g.position, whole.position);
    EXPECT_EQ(g.density, whole.density);
  }
}

TEST_F(SnapshotGadget, FieldsOfTng) {
  const auto path = tng("snap.hdf5", {}, [](SnapshotFile& file) {
    file.put("/PartType0/ElectronAbundance", {1.1, 1.2, 0.5})
        .put("/PartType0/NeutralHydrogenAbundance", {0.1, 1e-6, 1});
    file.put("/PartType0/GFM_Metallicity", {0.01, 0.02, 0.03}).put("/PartType0/StarFormationRate", {0, 2, 0.5});
    file.put("/PartType0/GFM_Metals", {0.75, 0.25, 0, 0.7, 0.3, 0, 0.6, 0.3, 0.1}, 3);
    file.put("/PartType0/SubfindHsml", {1, 2, 3});
  });
  const Snapshot snapshot(path);
  const GasBlock g = gas(snapshot, 2);
  expect_near(g.electrons, {1.1, 1.2, 0.5});
  expect_near(g.neutral, {0.1, 1e-6, 1});
  expect_near(g.metallicity, {0.01, 0.02, 0.03});
  expect_near(g.hydrogen, {0.75, 0.7, 0.6});
  expect_near(g.sfr, {0, 2, 0.5});
  EXPECT_FALSE(snapshot.has("smoothing_length"));  // SubfindHsml does not count
}

/// Numbers that do not fit in single precision are returned as stored in double.
TEST_F(SnapshotGadget, BothPrecisions) {
  const double x = 1.23456789012345, big = 35000.123456789;
  for (const bool wide : {false, true}) {
    const std::filesystem::path path = folder / "snap.hdf5";
    SnapshotFile file(path);
    file.set("/Header", "UnitLength_in_cm", 1.).set("/Header", "UnitMass_in_g", 1.);
    file.set("/Header", "UnitVelocity_in_cm_per_s", 1.).set("/Header", "Time", 0.).set("/Header", "Redshift", 0.);
    if (wide) {
      file.put<double>("/PartType0/Coordinates", {big, x, 0}, 3).put<double>("/PartType0/Masses", {x});
      file.put<double>("/PartType0/Density", {x});
    } else {
      file.put<float>("/PartType0/Coordinates", {big, x, 0}, 3).put<float>("/PartType0/Masses", {x});
      file.put<float>("/PartType0/Density", {x});
    }
    file.commit();
    const GasBlock g = gas(Snapshot(path));
    EXPECT_EQ(g.position[0], wide ? big : double(float(big)));
    EXPECT_EQ(g.mass[0], wide ? x : double(float(x)));
  }
}

TEST_F(SnapshotGadget, OfGadget4OnlyParametersHaveUnits) {
  const auto write = [&](double a_of_velocity) {
    const std::filesystem::path path = folder / "snapshot_000.hdf5";
    SnapshotFile file(path);
    file.set("/Header", "MassTable", Numbers{4, 27}).set("/Header", "Redshift", 3.).set("/Header", "Time", 0.25);
    file.set("/Header", "NumPart_ThisFile", Numbers{2, 2}).set("/Header", "NumFilesPerSnapshot", 1.);
    file.set("/Header", "BoxSize", 50000.).set("/Parameters", "ComovingIntegrationOn", 1.);
    file.set("/Parameters", "HubbleParam", 0.7)
        .set("/Parameters", "Omega0", 0.3)
        .set("/Parameters", "OmegaLambda", 0.7);
    file.set("/Parameters", "UnitLength_in_cm", kpc).set("/Parameters", "UnitMass_in_g", mass);
    file.set("/Parameters", "UnitVelocity_in_cm_per_s", km);
    file.put("/PartType0/Coordinates", {1, 2, 3, 4, 5, 6}, 3).scale("/PartType0/Coordinates", kpc, 1, -1);
    file.put("/PartType0/Velocities", {1, 0, 0, 0, 1, 0}, 3).scale("/PartType0/Velocities", km, a_of_velocity, 0);
    file.put("/PartType0/Density", {1, 2}).scale("/PartType0/Density", mass / std::pow(kpc, 3), -3, 2);
    file.put("/PartType0/SmoothingLength", {700, 800}).scale("/PartType0/SmoothingLength", kpc, 1, -1);
    file.commit();
    return path;
  };
  const Snapshot snapshot(write(0.5));
  EXPECT_TRUE(noted(snapshot, "/Parameters@UnitMass_in_g"));
  EXPECT_TRUE(noted(snapshot, "/Header@MassTable"));
  const GasBlock g = gas(snapshot);
  expect_near(g.mass, times({4, 4}, mass / 0.7), 1e-12);
  expect_near(g.velocity, times({1, 0, 0, 0, 1, 0}, km * 0.5), 1e-12);
  expect_near(g.density, times({1, 2}, mass / std::pow(kpc, 3) * 0.49 * 64), 1e-12);
  expect_near(g.smoothing_length, times({700, 800}, kpc * 0.25 / 0.7), 1e-12);

  // Attributes of the dataset have priority over conventions.
  expect_near(gas(Snapshot(write(0))).velocity, times({1, 0, 0, 0, 1, 0}, km), 1e-12);
}

TEST_F(SnapshotGadget, NamesAndAttributesOfEagle) {
  const std::filesystem::path path = folder / "snap.hdf5";
  SnapshotFile file(path);
  file.set("/Header", "ExpansionFactor", 0.5).set("/Header", "Redshift", 1.).set("/Header", "HubbleParam", 0.7);
  file.set("/Header", "Omega0", 0.3).set("/Header", "OmegaLambda", 0.7);
  const auto eagle = [&](const std::string& name, double cgs, double a, double h) {
    file.set(name, "CGSConversionFactor", cgs).set(name, "aexp-scale-exponent", a).set(name, "h-scale-exponent", h);
  };
  file.put("/PartType0/Coordinates", {1, 2, 3}, 3).put("/PartType0/Mass", {2}).put("/PartType0/Velocity", {4, 0, 0}, 3);
  file.put("/PartType0/Density", {3}).put("/PartType0/ElementAbundance/Hydrogen", {0.74});
  eagle("/PartType0/Coordinates", kpc, 1, -1);
  eagle("/PartType0/Mass", mass, 0, -1);
  eagle("/PartType0/Velocity", km, 0.5, 0);
  eagle("/PartType0/Density", 1e-22, -3, 2);
  file.commit();
  const GasBlock g = gas(Snapshot(path));  // the datasets alone have the units
  expect_near(g.position, times({1, 2, 3}, kpc * 0.5 / 0.7), 1e-12);
  expect_near(g.mass, {2 * mass / 0.7}, 1e-12);
  expect_near(g.velocity, times({4, 0, 0}, km * std::sqrt(0.5)), 1e-12);
  expect_near(g.density, {3e-22 * 0.49 * 8}, 1e-12);
  expect_near(g.hydrogen, {0.74});
}

TEST_F(SnapshotGadget, MassFromTableOrVolume) {
  const auto table =
      tng("table.hdf5", {.mass = false}, [](SnapshotFile& file) { file.set("/Header", "MassTable", Numbers{2}); });
  expect_near(gas(Snapshot(table)).mass, times({2, 2, 2}, mass / 0.7), 1e-12);
  const auto volume = tng("volume.hdf5", {.mass = false}, [](SnapshotFile& file) {
    file.put("/PartType0/Volume", {10, 20, 30});
  });
  const Snapshot snapshot(volume);
  EXPECT_TRUE(snapshot.has("mass"));
  for (const std::size_t size : {1, 2, 3}) {
    expect_near(gas(snapshot, size).mass, times({10, 40, 120}, mass / 0.7), 1e-12);
  }
}

TEST_F(SnapshotGadget, DensityFromVolumeOrNone) {
  const Snapshot mesh(tng("mesh.hdf5", {.density = false}, [](SnapshotFile& file) {
    file.put("/PartType0/Volume", {10, 20, 40}).put("/PartType0/SmoothingLength", {1, 1, 1});
  }));
  EXPECT_TRUE(mesh.has("density"));
  EXPECT_FALSE(mesh.has("smoothing_length"));  // a mesh has no kernel
  for (const std::size_t size : {1, 2, 3}) {
    expect_near(gas(mesh, size).density, times({0.025, 0.025, 0.025}, mass / std::pow(kpc, 3) * 0.49 * 8), 1e-7);
  }
  const Snapshot sph(tng("sph.hdf5", {.density = false}, [](SnapshotFile& file) {
    file.put("/PartType0/SmoothingLength", {1, 2, 3});
  }));
  EXPECT_FALSE(sph.has("density"));
  expect_near(gas(sph).smoothing_length, times({1, 2, 3}, kpc * 0.5 / 0.7), 1e-12);
}

TEST_F(SnapshotGadget, CountsComeFromTheDatasets) {
  const Snapshot wrong(tng("wrong.hdf5", {.header = false}, [](SnapshotFile& file) {
    file.set("/Header", "NumPart_ThisFile", Numbers{300, 0, 0, 0, 0, 0}).set("/Header", "NumPart_Total", Numbers{2});
  }));
  EXPECT_EQ(wrong.gas_count(), 3u);
  EXPECT_TRUE(noted(wrong, "NumPart_ThisFile says 300"));
  EXPECT_TRUE(noted(wrong, "NumPart_Total says 2"));
  const Snapshot none(tng("none.hdf5", {.header = false}));
  EXPECT_EQ(none.gas_count(), 3u);
  EXPECT_FALSE(noted(none, "NumPart"));
  EXPECT_EQ(none.header().box[0], 0);
  EXPECT_TRUE(noted(none, "no BoxSize"));
}

TEST_F(SnapshotGadget, ValuesAreNotJudged) {
  const double nan = std::nan("");
  const Snapshot snapshot(tng("bad.hdf5", {.density = false}, [&](SnapshotFile& file) {
    file.put("/PartType0/Density", {nan, -1, 0});
  }));
  const GasBlock g = gas(snapshot);
  ASSERT_EQ(g.count, 3u);
  EXPECT_TRUE(std::isnan(g.density[0]));
  EXPECT_LT(g.density[1], 0);
  EXPECT_EQ(g.density[2], 0);
}

TEST_F(SnapshotGadget, AZarrDirectoryIsAFile) {
  const Snapshot snapshot(tng("snap.zarr"));
  EXPECT_EQ(gas(snapshot).position, gas(Snapshot(tng("snap.hdf5"))).position);
}

TEST_F(SnapshotGadget, AreposLongBox) {
  const Snapshot snapshot(tng("long.hdf5", {}, [](SnapshotFile& file) { file.set("/Config", "LONG_X", 2.); }));
  EXPECT_NEAR(snapshot.header().box[0], 2 * snapshot.header().box[1], 1e-9 * snapshot.header().box[0]);
}

}  // namespace
}  // namespace thor::io
