#include "unit/io/snapshot_fixture.hpp"

namespace thor::io {
namespace {

using namespace test;

class SnapshotSwift : public SnapshotTest {
 protected:
  /// Two particles and a star at a = 0.5; lengths in Mpc, masses in 1e10 M_sun, velocities in km/s.
  std::filesystem::path write(bool described, const Change& change = {}) {
    const std::filesystem::path path = folder / "swift_0001.hdf5";
    SnapshotFile file(path);
    const double second = 1000 * kpc / km;
    file.set("/Header", "BoxSize", Numbers{10, 20, 30}).set("/Header", "Time", Numbers{0.006});
    file.set("/Header", "NumFilesPerSnapshot", Numbers{1}).set("/Header", "Scale-factor", Numbers{0.5});
    file.set("/Header", "Redshift", Numbers{1}).set("/Header", "NumPart_ThisFile", Numbers{2, 0, 0, 0, 1, 0});
    file.set("/Cosmology", "Cosmological run", Numbers{1}).set("/Cosmology", "h", Numbers{0.681});
    file.set("/Cosmology", "Omega_m", Numbers{0.3046}).set("/Cosmology", "Omega_lambda", Numbers{0.6939});
    file.set("/Units", "Unit length in cgs (U_L)", Numbers{1000 * kpc})
        .set("/Units", "Unit mass in cgs (U_M)", Numbers{mass});
    file.set("/Units", "Unit time in cgs (U_t)", Numbers{second});
    file.set("/HydroScheme", "Kernel function", "Quartic spline (M5)");
    file.put<double>("/PartType0/Coordinates", {1, 2, 3, 4, 5, 6}, 3)
        .put("/PartType0/Velocities", {7, 0, 0, 0, 8, 0}, 3);
    file.put("/PartType0/Masses", {0.25, 0.5}).put("/PartType0/Densities", {16, 32});
    file.put("/PartType0/InternalEnergies", {100, 200}).put("/PartType0/SmoothingLengths", {0.5, 0.25});
    file.put("/PartType0/Temperatures", {1e4, 2e4}).put("/PartType0/StarFormationRates", {3, -0.4});
    file.put("/PartType0/ElementMassFractions", {0.75, 0.25, 0.7, 0.3}, 2)
        .put("/PartType0/MetalMassFractions", {0.01, 0.02});
    file.put<double>("/PartType4/Coordinates", {1, 1, 1}, 3).put("/PartType4/Masses", {1});
    file.put("/PartType4/InitialMasses", {2}).put("/PartType4/BirthScaleFactors", {0.4});
    if (described) {
      file.swift_scale("/PartType0/Coordinates", 1000 * kpc, 1).swift_scale("/PartType0/Velocities", km, 0);
      file.swift_scale("/PartType0/Masses", mass, 0)
          .swift_scale("/PartType0/Densities", mass / std::pow(1000 * kpc, 3), -3);
      file.swift_scale("/PartType0/InternalEnergies", km * km, -2);
      file.swift_scale("/PartType0/SmoothingLengths", 1000 * kpc, 1).swift_scale("/PartType0/Temperatures", 1, 0);
      file.swift_scale("/PartType0/StarFormationRates", mass / second, 0);
    }
    if (change) change(file);
    file.commit();
    return path;
  }
  static constexpr double a = 0.5;
};

TEST_F(SnapshotSwift, ByItsAttributesAndByCustomAlike) {
  for (const bool described : {true, false}) {
    const Snapshot snapshot(write(described));
    const SnapshotHeader& header = snapshot.header();
    EXPECT_EQ(header.code, "SWIFT");
    EXPECT_TRUE(header.cosmological);
    EXPECT_DOUBLE_EQ(header.redshift, 1);
    EXPECT_DOUBLE_EQ(header.omega_m, 0.3046);
    EXPECT_NEAR(header.box[1], 20 * 1000 * kpc * a, 1e-9 * header.box[1]);
    const GasBlock g = gas(snapshot);
    expect_near(g.position, times({1, 2, 3, 4, 5, 6}, 1000 * kpc * a), 1e-9);
    expect_near(g.velocity, times({7, 0, 0, 0, 8, 0}, km), 1e-9);
    expect_near(g.mass, times({0.25, 0.5}, mass), 1e-9);  // no h
    expect_near(g.density, times({16, 32}, mass / std::pow(1000 * kpc * a, 3)), 1e-9);
    expect_near(g.internal_energy, times({100, 200}, km * km / (a * a)), 1e-9);
    expect_near(g.temperature, {1e4, 2e4});
    expect_near(g.hydrogen, {0.75, 0.7});
    expect_near(g.metallicity, {0.01, 0.02});
    // 2.018932 belongs to the kernel named in the file; 1.825742 of the cubic spline would be wrong.
    expect_near(g.smoothing_length, times({0.5, 0.25}, 2.018932 * 1000 * kpc * a), 1e-9);
    // 1e10 M_sun in one Mpc/(km/s) = 977.8 Gyr; negative values are times.
    expect_near(g.sfr, {3 * 1e10 / 977.8e9, 0}, 2e-3);
    const StarBlock s = stars(snapshot);
    expect_near(s.mass, {mass});
    expect_near(s.initial_mass, {2 * mass});
  }
}

TEST_F(SnapshotSwift, AValueStoredAsPhysicalHasNoFactorOfA) {
  const auto path =
      write(true, [](SnapshotFile& file) { file.set("/PartType0/Densities", "Value stored as physical", Numbers{1}); });
  expect_near(gas(Snapshot(path)).density, times({16, 32}, mass / std::pow(1000 * kpc, 3)), 1e-9);
}

TEST_F(SnapshotSwift, TheOldestAndTheLastAttribute) {
  const auto path = write(false, [](SnapshotFile& file) {
    file.set("/PartType0/Masses", "CGS conversion factor", Numbers{5})
        .set("/PartType0/Masses", "a-scale exponent", Numbers{0});
    file.set("/PartType0/Masses", "h-scale exponent", Numbers{-1});
    file.set("/PartType0/Densities", "Conversion factor to physical CGS (including cosmological corrections)",
             Numbers{7});
  });
  const GasBlock g = gas(Snapshot(path));
  expect_near(g.mass, times({0.25, 0.5}, 5 / 0.681), 1e-9);
  expect_near(g.density, times({16, 32}, 7), 1e-9);
}

TEST_F(SnapshotSwift, SpeciesOfTablesAndOfNetworks) {
  const Snapshot tables(write(true, [](SnapshotFile& file) {
    file.put("/PartType0/SpeciesFractions", {0.1, 0.8, 0.05, 0.2, 0.7, 0.05}, 3);
  }));
  expect_near(gas(tables).neutral, {0.1, 0.2});
  EXPECT_FALSE(tables.has("electrons"));
  Numbers network(20, 0.);
  network[0] = 1.1, network[1] = 0.3, network[10] = 1.2, network[11] = 0.4;
  const Snapshot chimes(write(true, [&](SnapshotFile& file) { file.put("/PartType0/SpeciesFractions", network, 10); }));
  expect_near(gas(chimes).electrons, {1.1, 1.2});
  expect_near(gas(chimes, 1).neutral, {0.3, 0.4});
  const Snapshot odd(
      write(true, [](SnapshotFile& file) { file.put("/PartType0/SpeciesFractions", Numbers(8, 0.5), 4); }));
  EXPECT_FALSE(odd.has("neutral"));
  EXPECT_TRUE(noted(odd, "SpeciesFractions has 4 columns"));
}

/// Columns of a dataset too wide to be read at once.
TEST_F(SnapshotSwift, AWholeNetworkOfSpecies) {
  constexpr std::size_t rows = 15000, species = 157;
  Numbers network(rows * species, 0.), expected(rows);
  for (std::size_t i = 0; i < rows; ++i) network[i * species + 1] = expected[i] = double(i);
  const auto path = folder / "wide.hdf5";
  SnapshotFile file(path);
  file.set("/Units", "Unit length in cgs (U_L)", 1.).set("/Units", "Unit mass in cgs (U_M)", 1.);
  file.put("/PartType0/Coordinates", Numbers(3 * rows, 1.), 3).put("/PartType0/Masses", Numbers(rows, 1.));
  file.put("/PartType0/Densities", Numbers(rows, 1.)).put("/PartType0/SpeciesFractions", network, species);
  file.commit();
  const Snapshot snapshot(path);
  EXPECT_EQ(gas(snapshot, rows).neutral, expected);
  EXPECT_EQ(gas(snapshot, 7001).neutral, expected);
}

TEST_F(SnapshotSwift, ManyMetalsAreNotTheMetallicity) {
  const std::filesystem::path path = tng(
      "gear.hdf5", {}, [](SnapshotFile& file) { file.put("/PartType0/MetalMassFractions", Numbers(30, 0.001), 10); });
  const Snapshot snapshot(path);
  EXPECT_FALSE(snapshot.has("metallicity"));
  EXPECT_TRUE(noted(snapshot, "MetalMassFractions has 10 columns"));
}

}  // namespace
}  // namespace thor::io
