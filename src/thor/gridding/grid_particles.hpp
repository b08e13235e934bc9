#pragma once
#include <string>

#include "thor/gridding/grid_snapshot.hpp"

namespace thor::gridding {

/// `thor grid --mesh octree` for particles: an octree that is as fine as they are, which they are deposited on. Returns
/// the text to print.
std::string grid_particles(const io::Snapshot& snapshot, const GridOptions& options);

}  // namespace thor::gridding
