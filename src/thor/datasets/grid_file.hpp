#pragma once
#include <functional>

#include "thor/datasets/cells.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/io/array/input.hpp"
#include "thor/line/line.hpp"

/// Grids in files: docs/formats.md#grids. Every failure is an Error(input) that names file, array and cell.
namespace thor {

/// The array of the absorber's number density.
std::string density_field(const config::Dataset& dataset, const Line& line);

/// The geometry in the file, as far as the configuration does not override it; checks the shape of every array that a
/// run will need.
GridShape read_grid_shape(const config::Dataset& dataset, const Line& line);
GridShape read_grid_shape(const config::Dataset& dataset, const std::vector<std::string>& needed);

/// Whether the file has an array of turbulent broadening, `b_turb`, which adds in quadrature to the thermal speed.
bool has_turbulence(const config::Dataset& dataset);

/// Whether ions of several masses absorb in a line, whose widths keep their ratio only without turbulence.
bool has_isotopes(const Line& line);

/// The arrays of a file that have three dimensions.
std::vector<std::string> grid_fields(const std::string& path);

/// The cells that are to be read, and how.
struct CellRequest {
  CellBox box;           ///< of the whole grid
  bool core_skip;        ///< with room for the lengths of core skipping
  double fastest_known;  ///< largest component of a velocity in the whole grid [cm/s]; 0: it is read, of the box
  int threads;
  bool silent = false;  ///< what there is to warn of was said
};
/// They are yet to be finished.
std::shared_ptr<Cells> read_cells(const config::Dataset& dataset, const Line& line, const GridShape& whole,
                                  const CellUnits& units, const CellRequest& request);

/// The largest component of a velocity in a box [cm/s].
double read_fastest(const config::Dataset& dataset, const Line& line, const GridShape& shape, const CellBox& box,
                    int threads);

/// Factor to cgs of an array of velocities, which must have units.
double velocity_unit(const io::Input& file, const std::string& field);

/// One array of a box of a grid, block by block, in threads: take(cell of the box, value). What lies outside is not
/// read.
void read_field(const std::string& path, const std::string& field, const GridShape& shape, const CellBox& box,
                int threads, const std::function<void(std::int64_t, double)>& take);

}  // namespace thor
