#include "thor/gridding/cube.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"

namespace thor::gridding {

Cube cube_of(const Lattice& lattice) {
  const auto [least, most] = std::ranges::minmax(lattice.cells);
  if (least != most) {
    throw Error(ExitCode::usage,
                fmt::format("--size: an octree or a Voronoi mesh fills a cube, not {} x {} x {} kpc: give one side",
                            lattice.cell * double(lattice.cells[0]) / (1e3 * constants::pc),
                            lattice.cell * double(lattice.cells[1]) / (1e3 * constants::pc),
                            lattice.cell * double(lattice.cells[2]) / (1e3 * constants::pc)));
  }
  return {lattice.cell * double(lattice.cells[0]), lattice.periodic};
}

std::optional<Vector> place_in_cube(const io::GasBlock& block, std::size_t i, const Job& job, const Cube& cube) {
  const double half = 0.5 * cube.side;
  Vector x = job.region.frame.rotation * job.region.frame.from_centre(vector_at(block.position, i));
  if (!std::isfinite(x[0] + x[1] + x[2])) refuse(job, "a gas element has no position");
  if (cube.periodic) {
    for (double& k : x) k = std::clamp(k - cube.side * std::round(k / cube.side), -half, half);
  }
  if (std::ranges::any_of(x, [&](double k) { return !(k >= -half && k <= half); })) return {};
  return x;
}

}  // namespace thor::gridding
