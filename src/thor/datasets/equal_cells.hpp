#pragma once
#include <functional>

#include "thor/datasets/cells.hpp"

/// Neighbours that hold the same gas, as in models and where coarse cells of a simulation were divided: a sphere jump
/// may go through all of them (docs/acceleration.md#sphere-jumps).
namespace thor {

/// Whether any two neighbours are equal and not so thin that photons pass through them.
bool has_equal_cells(const Cells& cells, int threads);

/// Cells of a grid as a process has read them.
struct CellsOfGrid {
  const Cells& cells;
  CellBox box;  ///< where they lie in the grid
  CellIndex whole;
};

/// The largest number of equal cells that count on one side of a cell.
inline constexpr std::int64_t equal_cells_reach = around_base - 1;

/// For each cell of a box, counted z first, the cuboid of equal cells around it as the six digits of
/// UniformGrid::around, from several threads; cells that are alone may be left out. The cuboid grows by a layer on each
/// side in turn as long as all its cells are equal, and ends at the sides of the whole grid, periodic or not. Cells as
/// far as equal_cells_reach from the box have to be known.
void equal_cells_around(const CellsOfGrid& known, const CellBox& box, int threads,
                        const std::function<void(std::int64_t cell, float digits)>& take);

}  // namespace thor
