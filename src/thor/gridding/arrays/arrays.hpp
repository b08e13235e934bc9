#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thor/emission/ionization.hpp"
#include "thor/gridding/deposit/lattice.hpp"
#include "thor/gridding/gas/bad_cells.hpp"
#include "thor/gridding/gas/fields.hpp"

/// `thor grid` of a cube that is already a grid: an HDF5 or zarr file with one three-dimensional array per field.
namespace thor::gridding {

/// The origin of a field of the grid.
struct ArrayField {
  std::string array;                ///< name in the file; empty for a constant
  double constant = 0;              ///< in the units of a grid file
  std::optional<std::string> unit;  ///< std::nullopt: that of the array's attribute `units`
};

struct ArraysOptions {
  std::string input, output;
  std::map<std::string, ArrayField> fields;  ///< by the names of a grid file
  double size = 0;                           ///< extent along the first dimension [cm]
  bool periodic = false, emission = true, overwrite = false, dry_run = false, quiet = false;
  double redshift = 0, hubble = 0;
  double solar_metallicity = 0.0127, f_ion = 0.01;
  std::optional<emission::Ionization> ionization;  ///< used if there is no HI_density
  int compression = 0;
  OnBadCells on_bad_cells = OnBadCells::error;
  double temperature_floor = 10;        ///< [K]
  std::optional<double> density_floor;  ///< replaces a negative density [g/cm^3]; zero if not given
};

/// "density=rho:g/cm3,temperature=/gas/T:K,velocity_x=0": NAME=ARRAY[:UNIT] or NAME=NUMBER[:UNIT]; Error(usage)
/// otherwise.
std::map<std::string, ArrayField> parse_array_fields(const std::string& text);

/// Factor from `unit` to the unit of a grid file. Error(input) if the field cannot have this unit.
double array_factor(const std::string& field, const std::string& unit, double solar_metallicity);

/// Converts a cube and returns the text to print, with `quiet` only the name and the arrays of the file. Invalid values
/// are an Error(input) that gives their number and the first of each kind, unless `on_bad_cells` asks for a repair.
std::string grid_arrays(const ArraysOptions& options);

}  // namespace thor::gridding
