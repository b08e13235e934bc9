#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thor/emission/ionization.hpp"
#include "thor/gridding/deposit/lattice.hpp"
#include "thor/gridding/gas/bad_cells.hpp"
#include "thor/gridding/gas/fields.hpp"

/// `thor grid` for a cube, which is already a grid: an HDF5 or zarr file with one three-dimensional array for each
/// field.
namespace thor::gridding {

/// Origin of a field of the grid.
struct CubeField {
  std::string array;                ///< name in the file; empty: a constant
  double constant = 0;              ///< in the units of a grid file
  std::optional<std::string> unit;  ///< std::nullopt: the array's attribute `units`
};

struct CubeOptions {
  std::string input, output;
  std::map<std::string, CubeField> fields;  ///< keyed by the names in a grid file
  double size = 0;                          ///< along the first dimension [cm]
  bool periodic = false, emission = true, overwrite = false, dry_run = false;
  double redshift = 0, hubble = 0;
  double solar_metallicity = 0.0127, f_ion = 0.01;
  std::optional<emission::Ionization> ionization;  ///< used without HI_density
  int compression = 0;
  OnBadCells on_bad_cells = OnBadCells::error;
  double temperature_floor = 10;        ///< [K]
  std::optional<double> density_floor;  ///< [g/cm^3], replaces a negative one; std::nullopt: zero
};

/// "density=rho:g/cm3,temperature=/gas/T:K,velocity_x=0": NAME=ARRAY[:UNIT] or NAME=NUMBER[:UNIT]; Error(usage)
/// otherwise.
std::map<std::string, CubeField> parse_cube_fields(const std::string& text);

/// Factor from `unit` to the unit in a grid file. Error(input) if `unit` is not one of the field's.
double cube_factor(const std::string& field, const std::string& unit, double solar_metallicity);

/// Makes the grid and returns the text to print. Impossible values are an Error(input) with their counts and the first
/// of each kind, unless `on_bad_cells` asks for a repair.
std::string grid_cube(const CubeOptions& options);

}  // namespace thor::gridding
