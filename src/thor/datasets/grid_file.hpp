#pragma once
#include "thor/datasets/cells.hpp"
#include "thor/datasets/gas_arrays.hpp"

/// Grids in files: docs/formats.md#grids. Every failure is an Error(input) that names file, array and cell.
namespace thor {

/// The geometry in the file, as far as the configuration does not override it; checks the shape of every array that a
/// run will need.
GridShape read_grid_shape(const config::Dataset& dataset, const Line& line);
GridShape read_grid_shape(const config::Dataset& dataset, const std::vector<std::string>& needed);

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

/// One array of a box of a grid, block by block, in threads: take(cell of the box, value). What lies outside is not
/// read.
void read_field(const std::string& path, const std::string& field, const GridShape& shape, const CellBox& box,
                int threads, const TakeValue& take);

}  // namespace thor
