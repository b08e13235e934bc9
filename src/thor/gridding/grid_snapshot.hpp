#pragma once
#include <functional>
#include <optional>
#include <string>

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
  std::optional<double> eos_temperature = 1e4;  ///< of star-forming gas [K]; std::nullopt: as in the snapshot
  bool eos_asked = false;                       ///< requested: without a star-formation rate this is an error
  bool eos_emission = false;
  bool mass_weighted = false;  ///< also write temperature and velocity of all gas
  std::optional<double> metallicity, density_floor;
  double solar_metallicity = 0.0127, f_ion = 0.01, temperature_floor = 10;
  SourceKind sources = SourceKind::stars;
  bool sources_asked = false;  ///< requested: if there are none this is an error
  double sfr_efficiency = 1;
  OnBadCells on_bad_cells = OnBadCells::error;
  double tolerance = 1e-6;
  bool single = false;  ///< sums in single precision: half the memory
  int threads = 1, compression = 0;
  bool overwrite = false, dry_run = false, quiet = false;
};

/// Ionisation model chosen by the options; std::nullopt: the snapshot's own. Error(usage) if its file is not named.
std::optional<emission::Ionization> choose_ionization(const GridOptions& options, double redshift);

/// Makes the grid and returns the text to print at the end. A dry run writes nothing.
std::string grid_snapshot(const GridOptions& options);

}  // namespace thor::gridding
