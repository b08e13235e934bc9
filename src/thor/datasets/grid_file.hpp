#pragma once
#include <functional>

#include "thor/datasets/cells.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/line/line.hpp"

/// Grids in files: docs/formats.md#grids. Every failure is an Error(input) that names file, array and cell.
namespace thor {

/// The array of the absorber's number density.
std::string density_field(const config::Dataset& dataset, const Line& line);

/// The geometry in the file, as far as the configuration does not override it; checks the shape of every array that a
/// run will need.
GridShape read_grid_shape(const config::Dataset& dataset, const Line& line);

/// Reads all cells.
std::shared_ptr<const Cells> read_cells(const config::Dataset& dataset, const Line& line, const GridShape& shape,
                                        const CellUnits& units, bool core_skip, int threads);

/// One array of a grid, block by block, in threads: take(cell, value).
void read_field(const std::string& path, const std::string& field, const GridShape& shape, int threads,
                const std::function<void(std::int64_t, double)>& take);

}  // namespace thor
