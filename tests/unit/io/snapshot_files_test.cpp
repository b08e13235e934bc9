#include <fstream>

#include "unit/io/snapshot_fixture.hpp"

/// Snapshots in several files, and damaged files.
namespace thor::io {
namespace {

using namespace test;
namespace fs = std::filesystem;

class SnapshotFiles : public SnapshotTest {
 protected:
  /// `rows` particles, whose positions continue from `first`.
  void part(const std::string& name, std::size_t first, std::size_t rows, std::optional<double> files,
            const Change& change = {}) {
    SnapshotFile file(folder / name);
    if (files) file.set("/Header", "NumFilesPerSnapshot", *files);
    file.set("/Header", "Time", 0.5).set("/Header", "Redshift", 1.).set("/Header", "HubbleParam", 0.7);
    file.set("/Header", "Omega0", 0.3).set("/Header", "OmegaLambda", 0.7).set("/Header", "BoxSize", 1000.);
    file.set("/Header", "UnitLength_in_cm", kpc).set("/Header", "UnitMass_in_g", mass);
    file.set("/Header", "UnitVelocity_in_cm_per_s", km);
    file.set("/Header", "NumPart_ThisFile", Numbers{double(rows), 0, 0, 0, 0, 0});
    file.set("/Header", "NumPart_Total", Numbers{7, 0, 0, 0, 0, 0});
    Numbers position, weight;
    for (std::size_t i = 0; i < rows; ++i) {
      for (int k = 0; k < 3; ++k) position.push_back(double(first + i));
      weight.push_back(double(first + i));
    }
    if (rows > 0) {
      file.put("/PartType0/Coordinates", position, 3)
          .put("/PartType0/Masses", weight)
          .put("/PartType0/Density", weight);
    }
    if (change) change(file);
    file.commit();
  }
  /// 4 + 0 + 1 + 2 particles.
  void four_parts(std::optional<double> files) {
    part("snap_099.0.hdf5", 0, 4, files);
    part("snap_099.1.hdf5", 4, 0, files);
    part("snap_099.2.hdf5", 4, 1, files);
    part("snap_099.3.hdf5", 5, 2, files);
  }
  void truncate(const fs::path& path, double share) {
    fs::resize_file(path, static_cast<std::uintmax_t>(share * static_cast<double>(fs::file_size(path))));
  }
};

TEST_F(SnapshotFiles, AnyMemberOrTheDirectoryGivesAll) {
  four_parts(4);
  for (const fs::path& path : {folder / "snap_099.0.hdf5", folder / "snap_099.2.hdf5", folder}) {
    const Snapshot snapshot(path);
    EXPECT_EQ(snapshot.gas_count(), 7u);
    EXPECT_EQ(snapshot.files().size(), 4u);
    for (const std::size_t size : {1, 3, 100}) {
      expect_near(gas(snapshot, size).mass, times({0, 1, 2, 3, 4, 5, 6}, mass / 0.7), 1e-12);
    }
    EXPECT_FALSE(noted(snapshot, "NumPart"));
  }
}

TEST_F(SnapshotFiles, ElevenAreInTheOrderOfTheirNumbers) {
  for (std::size_t i = 0; i < 11; ++i) part("s." + std::to_string(i) + ".hdf5", i, 1, 11);
  expect_near(gas(Snapshot(folder)).mass, times({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, mass / 0.7), 1e-12);
}

TEST_F(SnapshotFiles, MissingOnesAreListed) {
  four_parts(6);
  fs::remove(folder / "snap_099.1.hdf5");
  const std::string message = open_error(folder / "snap_099.0.hdf5");
  for (const char* part : {"6 files", "3 are missing", "snap_099.1.hdf5", "snap_099.4.hdf5", "snap_099.5.hdf5"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
  EXPECT_FALSE(contains(message, "snap_099.2.hdf5")) << message;
}

TEST_F(SnapshotFiles, WithoutTheirNumberThoseThatAreThereCount) {
  four_parts({});
  const Snapshot snapshot(folder);
  EXPECT_EQ(snapshot.gas_count(), 7u);
  EXPECT_TRUE(noted(snapshot, "4 numbered files"));
  fs::remove(folder / "snap_099.2.hdf5");
  EXPECT_TRUE(contains(open_error(folder), "1 is missing: snap_099.2.hdf5"));
}

TEST_F(SnapshotFiles, OneFileStaysAlone) {
  four_parts(1);
  EXPECT_EQ(Snapshot(folder / "snap_099.3.hdf5").gas_count(), 2u);
  part("cutout.hdf5", 0, 3, 448);
  const Snapshot cutout(folder / "cutout.hdf5");
  EXPECT_EQ(cutout.gas_count(), 3u);
  EXPECT_TRUE(noted(cutout, "NumFilesPerSnapshot is 448"));
}

TEST_F(SnapshotFiles, HigherNumbersAreLeftOut) {
  four_parts(3);
  const Snapshot snapshot(folder);
  EXPECT_EQ(snapshot.gas_count(), 5u);
  EXPECT_TRUE(noted(snapshot, "1 file(s) with higher numbers"));
}

TEST_F(SnapshotFiles, ADirectoryMustHoldOneSnapshot) {
  EXPECT_TRUE(contains(open_error(folder), "no snapshot"));
  four_parts(4);
  part("snap_098.hdf5", 0, 3, 1);
  const std::string message = open_error(folder);
  EXPECT_TRUE(contains(message, "snap_098.hdf5") && contains(message, "snap_099.*.hdf5")) << message;
  EXPECT_TRUE(contains(open_error(folder / "snap_099.hdf5"), "snap_099.0.hdf5"));
  EXPECT_TRUE(contains(open_error(folder / "none.hdf5"), "no such file"));
}

TEST_F(SnapshotFiles, MustBelongTogether) {
  part("snap.0.hdf5", 0, 4, 2);
  part("snap.1.hdf5", 4, 3, 2, [](SnapshotFile& file) { file.set("/Header", "Time", 0.6); });
  EXPECT_TRUE(contains(open_error(folder), "not from one snapshot"));
  part("snap.1.hdf5", 4, 3, 2, [](SnapshotFile& file) { file.set("/Header", "Redshift", std::nan("")); });
  EXPECT_TRUE(contains(open_error(folder), "its /Header@Redshift is nan and that of snap.0.hdf5 is 1"));
  part("snap.0.hdf5", 0, 4, 2, [](SnapshotFile& file) { file.set("/Header", "Redshift", std::nan("")); });
  EXPECT_TRUE(contains(open_error(folder), "/Header@Redshift is nan")) << "of both: they do not differ";
  EXPECT_FALSE(contains(open_error(folder), "one snapshot"));
  part("snap.0.hdf5", 0, 4, 2);
  part("snap.1.hdf5", 4, 3, 2);
  EXPECT_EQ(Snapshot(folder).gas_count(), 7u);
  part("snap.0.hdf5", 0, 4, 2, [](SnapshotFile& file) { file.put("/PartType0/ElectronAbundance", {1, 1, 1, 1}); });
  const std::string message = open_error(folder);
  EXPECT_TRUE(contains(message, "snap.1.hdf5") && contains(message, "ElectronAbundance")) << message;
}

TEST_F(SnapshotFiles, NumberOfFilesMustBeOne) {
  part("snap.0.hdf5", 0, 4, -3);
  EXPECT_TRUE(contains(open_error(folder), "NumFilesPerSnapshot is -3"));
  part("snap.0.hdf5", 0, 4, 1e12);
  EXPECT_TRUE(contains(open_error(folder), "NumFilesPerSnapshot is 1e+12"));
}

TEST_F(SnapshotFiles, TruncatedIsAnErrorThatNamesTheFile) {
  for (const double share : {0., 0.01, 0.3, 0.6, 0.95}) {
    part("snap.hdf5", 0, 100, 1);
    const auto path = folder / "snap.hdf5";
    truncate(path, share);
    EXPECT_TRUE(contains(gas_error(path), "snap.hdf5")) << share;
  }
  four_parts(4);
  truncate(folder / "snap_099.3.hdf5", 0.5);
  EXPECT_TRUE(contains(open_error(folder / "snap_099.0.hdf5"), "snap_099.3.hdf5"));
  std::ofstream(folder / "text.hdf5") << "this is no snapshot\n";
  EXPECT_TRUE(contains(open_error(folder / "text.hdf5"), "text.hdf5"));
}

class SnapshotErrors : public SnapshotTest {};

TEST_F(SnapshotErrors, ADatasetOfTheWrongLength) {
  const auto path = tng("snap.hdf5", {.density = false}, [](SnapshotFile& file) {
    file.put("/PartType0/Density", {1, 2});
  });
  const std::string message = open_error(path);
  for (const char* part : {"/PartType0/Density has 2 rows", "/PartType0/Coordinates has 3"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
}

TEST_F(SnapshotErrors, OfTheWrongShape) {
  const auto path = tng("snap.hdf5", {.density = false}, [](SnapshotFile& file) {
    file.put("/PartType0/Density", {1, 2, 3}).put("/PartType4/Coordinates", {1, 2, 3, 4}, 2);
  });
  EXPECT_TRUE(contains(open_error(path), "/PartType4/Coordinates has 2 columns; 3 are expected"));
}

TEST_F(SnapshotErrors, GasWithoutDensity) {
  const std::string message = gas_error(tng("snap.hdf5", {.density = false}));
  for (const char* part : {"/PartType0/Density is missing", "/PartType0/Volume", "/PartType0/SmoothingLength"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
}

TEST_F(SnapshotErrors, GasWithoutMass) {
  const std::string message = gas_error(tng("snap.hdf5", {.mass = false}));
  for (const char* part : {"/PartType0/Masses is missing", "MassTable", "/PartType0/Volume"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
}

TEST_F(SnapshotErrors, NoSnapshotAtAll) {
  const fs::path path = folder / "cube.hdf5";
  SnapshotFile(path).put("/density", {1, 2, 3, 4}).commit();
  EXPECT_TRUE(contains(open_error(path), "neither gas (/PartType0) nor stars"));
}

}  // namespace
}  // namespace thor::io
