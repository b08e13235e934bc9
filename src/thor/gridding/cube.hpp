#pragma once
#include <optional>

#include "thor/gridding/job.hpp"

namespace thor::gridding {

/// What a mesh fills: a cube, open or the whole periodic box, with its middle in the origin.
struct Cube {
  double side;  ///< [cm]
  bool periodic;
};

/// Error(usage) if the region is no cube.
Cube cube_of(const Lattice& lattice);

/// The place of a gas element in the cube; outside: nowhere.
std::optional<Vector> place_in_cube(const io::GasBlock& block, std::size_t i, const Job& job, const Cube& cube);

}  // namespace thor::gridding
