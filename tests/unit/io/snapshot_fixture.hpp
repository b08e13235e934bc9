#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/io/array/output.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Small snapshots for tests, in the layouts of the codes.
namespace thor::io::test {

using Numbers = std::vector<double>;

class SnapshotFile {
 public:
  explicit SnapshotFile(const std::filesystem::path& path) : out_(path, true) {}
  SnapshotFile& set(const std::string& object, const std::string& name, double value) {
    out_.attribute(object, name, value);
    return *this;
  }
  SnapshotFile& set(const std::string& object, const std::string& name, const char* value) {
    out_.attribute(object, name, std::string_view(value));
    return *this;
  }
  SnapshotFile& set(const std::string& object, const std::string& name, const Numbers& values) {
    out_.attribute(object, name, std::span<const double>(values));
    return *this;
  }
  template <class T = float>
  SnapshotFile& put(const std::string& path, const Numbers& values, std::uint64_t columns = 1) {
    const std::vector<T> stored(values.begin(), values.end());
    std::vector<std::uint64_t> shape = {stored.size() / columns};
    if (columns > 1) shape.push_back(columns);
    out_.write<T>(path, std::span<const T>(stored), shape, "", "");
    return *this;
  }
  /// Attributes of a dataset as in AREPO and Gadget-4.
  SnapshotFile& scale(const std::string& path, double to_cgs, double a, double h) {
    return set(path, "to_cgs", to_cgs).set(path, "a_scaling", a).set(path, "h_scaling", h);
  }
  /// Attributes of a dataset as in SWIFT.
  SnapshotFile& swift_scale(const std::string& path, double cgs, double a) {
    set(path, "Conversion factor to CGS (not including cosmological corrections)", Numbers{cgs});
    return set(path, "a-scale exponent", Numbers{a}).set(path, "h-scale exponent", Numbers{0});
  }
  void commit() { out_.commit(true); }

 private:
  ArrayOutput out_;
};

class SnapshotTest : public ::testing::Test {
 protected:
  static constexpr double kpc = 3.085678e21, mass = 1.989e43, km = 1e5;  // units of TNG

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thor_snapshot_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Three cells in the layout of TNG at z = 1 (a = 0.5), h = 0.7: tests modify it before opening it.
  using Change = std::function<void(SnapshotFile&)>;
  struct Parts {
    bool header = true, units = true, cosmology = true, mass = true, density = true;
  };
  std::filesystem::path tng(const std::string& name, Parts parts, const Change& change = {}) {
    const std::filesystem::path path = folder / name;
    SnapshotFile file(path);
    if (parts.header) {
      file.set("/Header", "NumPart_ThisFile", Numbers{3, 0, 0, 0, 0, 0}).set("/Header", "NumFilesPerSnapshot", 1.);
      file.set("/Header", "NumPart_Total", Numbers{3, 0, 0, 0, 0, 0}).set("/Header", "BoxSize", 1000.);
      file.set("/Header", "MassTable", Numbers{0, 0.5, 0, 0, 0, 0});
    }
    if (parts.cosmology) {
      file.set("/Header", "Time", 0.5).set("/Header", "Redshift", 1.).set("/Header", "HubbleParam", 0.7);
      file.set("/Header", "Omega0", 0.3).set("/Header", "OmegaLambda", 0.7);
    }
    if (parts.units) {
      file.set("/Header", "UnitLength_in_cm", kpc).set("/Header", "UnitMass_in_g", mass);
      file.set("/Header", "UnitVelocity_in_cm_per_s", km);
    }
    file.put<double>("/PartType0/Coordinates", {1, 2, 3, 4, 5, 6, 7, 8, 9}, 3);
    file.put("/PartType0/Velocities", {10, 20, 30, -10, 0, 0, 1, 1, 1}, 3);
    if (parts.mass) file.put("/PartType0/Masses", {0.25, 0.5, 1});
    if (parts.density) file.put("/PartType0/Density", {1, 2, 4});
    file.put("/PartType0/InternalEnergy", {100, 200, 400});
    if (change) change(file);
    file.commit();
    return path;
  }
  std::filesystem::path tng(const std::string& name) { return tng(name, {}); }

  static GasBlock gas(const Snapshot& snapshot, std::size_t size = 1000) {
    GasBlock all;
    snapshot.for_each_gas(size, [&](const GasBlock& block) {
      EXPECT_LE(block.count, size);
      EXPECT_EQ(block.position.size(), 3 * block.count);
      all.count += block.count;
      for (const auto member :
           {&GasBlock::position, &GasBlock::velocity, &GasBlock::mass, &GasBlock::density, &GasBlock::internal_energy,
            &GasBlock::temperature, &GasBlock::electrons, &GasBlock::neutral, &GasBlock::hydrogen,
            &GasBlock::metallicity, &GasBlock::sfr, &GasBlock::smoothing_length}) {
        (all.*member).insert((all.*member).end(), (block.*member).begin(), (block.*member).end());
      }
    });
    EXPECT_EQ(all.count, snapshot.gas_count());
    return all;
  }
  static StarBlock stars(const Snapshot& snapshot, std::size_t size = 1000) {
    StarBlock all;
    snapshot.for_each_star(size, [&](const StarBlock& block) {
      EXPECT_LE(block.count, size);
      all.count += block.count;
      for (const auto member : {&StarBlock::position, &StarBlock::velocity, &StarBlock::mass, &StarBlock::initial_mass,
                                &StarBlock::age, &StarBlock::metallicity, &StarBlock::ionizing_rate}) {
        (all.*member).insert((all.*member).end(), (block.*member).begin(), (block.*member).end());
      }
    });
    EXPECT_EQ(all.count, snapshot.star_count());
    return all;
  }

  static bool noted(const Snapshot& snapshot, const std::string& words) {
    for (const std::string& note : snapshot.header().notes) {
      if (note.find(words) != std::string::npos) return true;
    }
    return false;
  }
  /// Message of the error, which must be an input error.
  static std::string error(const std::function<void()>& what) {
    try {
      what();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  static std::string open_error(const std::filesystem::path& path, const SnapshotOptions& options = {}) {
    return error([&] { Snapshot snapshot(path, options); });
  }
  static std::string gas_error(const std::filesystem::path& path, const SnapshotOptions& options = {}) {
    return error([&] {
      const Snapshot snapshot(path, options);
      snapshot.for_each_gas(10, [](const GasBlock&) {});
    });
  }

  std::filesystem::path folder;
};

inline void expect_near(const Numbers& found, const Numbers& expected, double tolerance = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance * std::abs(expected[i])) << "entry " << i;
  }
}
inline Numbers times(Numbers values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Path of a file in ../shared/data, if it exists.
inline std::optional<std::filesystem::path> shared_data(const char* name) {
  const std::filesystem::path path = std::filesystem::path(THOR_SHARED) / "data" / name;
  if (!std::filesystem::exists(path)) return {};
  return path;
}

}  // namespace thor::io::test
