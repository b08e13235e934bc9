#pragma once
#include "thor/gridding/grid_snapshot.hpp"

namespace thor::gridding {

/// `thor grid --mesh voronoi`: the gas elements of a region as the sites of a Voronoi mesh, with the gas that `thor
/// grid` makes of them (docs/voronoi.md). Returns the text to print.
std::string grid_voronoi(const GridOptions& options);

}  // namespace thor::gridding
