#pragma once
#include <functional>
#include <optional>
#include <string>

#include "thor/comm/world.hpp"
#include "thor/core/progress.hpp"
#include "thor/gridding/plan/budget.hpp"
#include "thor/gridding/plan/memory.hpp"
#include "thor/gridding/sources.hpp"

/// `thor grid` for a snapshot.
namespace thor::gridding {

enum class Method { kernel, nearest };
enum class KernelSize { automatic, volume, smoothing };
enum class NeutralFraction { automatic, snapshot, equilibrium, table, collisional };

struct GridOptions {
  std::string snapshot, output;
  io::SnapshotOptions read;
  RegionOptions region;
  Method method = Method::kernel;
  KernelSize kernel_size = KernelSize::automatic;
  NeutralFraction neutral = NeutralFraction::automatic;
  std::string uv_background, ionization_table, ion_table;
  bool self_shielding = true;
  std::vector<std::string> ions, lines;
  bool emission = true;
  std::optional<double> eos_temperature =
      1e4;                 ///< temperature of star-forming gas [K]; std::nullopt: as in the snapshot
  bool eos_asked = false;  ///< given by the user; an error if the gas has no star-formation rate
  bool eos_emission = false;
  bool mass_weighted = false;  ///< also write temperature and velocity of all gas, besides those of each ion
  std::optional<double> metallicity, density_floor;
  double solar_metallicity = 0.0127, f_ion = 0.01, temperature_floor = 10;
  SourceKind sources = SourceKind::stars;
  bool sources_asked = false;  ///< given by the user; an error if there are no sources
  double sfr_efficiency = 1;
  OnBadCells on_bad_cells = OnBadCells::error;
  double tolerance = 1e-6;
  bool single = false;           ///< sums in single precision, which halves the memory
  std::optional<double> memory;  ///< largest memory of the plan [bytes]; std::nullopt: what is available
  int threads = 1, compression = 0;
  bool overwrite = false, dry_run = false, quiet = false;
  std::uint64_t refine_number = 8;     ///< --mesh octree of particles: a leaf with more gas elements is split,
  std::optional<double> refine_mass;   ///< or with more mass [g]
  bool density_of_cells = false;       ///< --mesh voronoi: mass over volume, in place of the density of the snapshot
  const comm::World* world = nullptr;  ///< ranks that share the slabs; null: this process alone
  ProgressMode progress = ProgressMode::automatic;
};

/// Ionisation model chosen by the options; std::nullopt is the snapshot's own. Error(usage) if its file is missing from
/// the options.
std::optional<emission::Ionization> choose_ionization(const GridOptions& options, double redshift);

/// Grids a snapshot and returns the text to print, with `quiet` only the name and the arrays of the file. A dry run
/// writes nothing. Collective where ranks share the slabs.
std::string grid_snapshot(const GridOptions& options);

}  // namespace thor::gridding
