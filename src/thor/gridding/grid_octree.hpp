#pragma once
#include "thor/gridding/grid_snapshot.hpp"

namespace thor::gridding {

/// `thor grid --mesh octree`: the leaves of a simulation as they are, with the gas that `thor grid` makes of them
/// (docs/octrees.md). Returns the text to print.
std::string grid_octree(const GridOptions& options);

}  // namespace thor::gridding
