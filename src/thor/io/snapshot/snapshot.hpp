#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Hydrodynamical snapshots as written by the simulation: Gadget/AREPO/TNG-style HDF5 (single and split files),
/// SWIFT, and RAMSES. All values are in physical cgs units (not comoving, no h). Every failure is a
/// thor::Error(ExitCode::input) that names file, dataset and remedy.
namespace thor::io {

/// Options that replace or supplement the contents of the file; std::nullopt: as in the file.
struct SnapshotOptions {
  std::optional<double> unit_length{}, unit_mass{}, unit_velocity{};  ///< code units in cgs (without h and a)
  std::optional<double> h{}, omega_m{}, omega_lambda{}, redshift{};
  std::optional<double> box{};     ///< side in cm, physical
  std::optional<bool> comoving{};  ///< false: lengths have no factor a, velocities no sqrt(a)
  bool assume_tng_units = false;   ///< kpc/h, 1e10 M_sun/h and km/s where the file has no units
};

struct SnapshotHeader {
  double scale_factor = 1, redshift = 0;
  double h = 0, omega_m = 0, omega_lambda = 0;
  bool cosmological = false;
  std::array<double, 3> box{};          ///< [cm]; 0: unknown
  std::string code;                     ///< "Gadget/AREPO", "SWIFT"
  std::vector<std::string> notes;       ///< origin of each unit and cosmological parameter, for the user
  std::vector<std::string> warnings{};  ///< what contradicts itself, and which of the two is used
};

/// One entry per gas element (Voronoi cell, SPH particle); vectors of missing fields are empty.
struct GasBlock {
  std::size_t count = 0;
  std::vector<double> position;           ///< x, y, z of each [cm], from the corner of the box
  std::vector<double> velocity;           ///< x, y, z of each [cm/s], peculiar
  std::vector<double> mass;               ///< [g]
  std::vector<double> density;            ///< [g/cm^3]
  std::vector<double> internal_energy;    ///< [erg/g]
  std::vector<double> temperature;        ///< [K], if the snapshot has it
  std::vector<double> electrons;          ///< n_e/n_H
  std::vector<double> neutral;            ///< n_HI/n_H
  std::vector<double> hydrogen;           ///< mass fraction X
  std::vector<double> metallicity;        ///< mass fraction Z
  std::vector<double> sfr;                ///< [M_sun/yr]
  std::vector<double> smoothing_length;   ///< radius where the kernel ends [cm]; SPH
  std::vector<std::int64_t> level, cell;  ///< of leaves of a tree: the level, and x, y, z among those of that level
};

struct StarBlock {
  std::size_t count = 0;
  std::vector<double> position, velocity;  ///< as for gas
  std::vector<double> mass;                ///< [g], now
  std::vector<double> initial_mass;        ///< [g], at birth
  std::vector<double> age;                 ///< [s]; TNG wind particles (negative birth time) are not in the block
  std::vector<double> metallicity;         ///< mass fraction
  std::vector<double> ionizing_rate;       ///< [1/s], if the snapshot has it
};

class Snapshot {
 public:
  /// Opens a file, one file of a split snapshot (the others are found by their numbers), or the directory that contains
  /// them.
  explicit Snapshot(const std::filesystem::path& path, const SnapshotOptions& options = {});
  ~Snapshot();

  const SnapshotHeader& header() const;
  const std::vector<std::filesystem::path>& files() const;
  std::uint64_t gas_count() const;
  std::uint64_t star_count() const;              ///< without wind particles, for which the first call reads one dataset
  bool has(const std::string& gas_field) const;  ///< whether a member of GasBlock exists: "neutral", "electrons", ...

  /// Visits all elements in the order of the files, at most `size` at a time, so that memory is bounded. Values are
  /// passed on unchanged, including NaN, zero and negative ones. Position, mass, and density or smoothing_length are
  /// always present: a snapshot without them is refused here, not earlier, since its stars may still be usable.
  void for_each_gas(std::size_t size, const std::function<void(const GasBlock&)>& take) const;
  void for_each_star(std::size_t size, const std::function<void(const StarBlock&)>& take) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thor::io
