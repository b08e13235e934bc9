#pragma once
#include "thor/gridding/grid_snapshot.hpp"

namespace thor::gridding {

/// `thor grid --mesh octree` (docs/octrees.md) for a simulation with leaves of its own: as they are, with the gas that
/// `thor grid` makes of them. Returns the text to print.
std::string grid_octree(const io::Snapshot& snapshot, const GridOptions& options);

}  // namespace thor::gridding
