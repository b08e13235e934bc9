#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "thor/math/vector.hpp"

namespace thor::gridding {

/// The i-th vector of x0, y0, z0, x1, ...
inline Vector vector_at(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

/// The cells of a grid: cubic, in C order (z fastest). Coordinates are those of the run, with the origin at the centre
/// of the region.
struct Lattice {
  std::array<std::int64_t, 3> cells{};
  double cell = 0;        ///< side of a cell [cm]
  bool periodic = false;  ///< gas that leaves on one side enters on the other

  std::uint64_t count() const { return std::uint64_t(cells[0]) * std::uint64_t(cells[1]) * std::uint64_t(cells[2]); }
  double volume() const { return cell * cell * cell; }                                     ///< volume of a cell [cm^3]
  double lower(int axis) const { return -0.5 * cell * double(cells[std::size_t(axis)]); }  ///< lower corner [cm]
};

/// A slab of a grid: its layers [first, last) along x, the slowest axis.
struct Layers {
  std::int64_t first = 0, last = 0;

  std::int64_t count() const { return last - first; }
};

inline Layers all_layers(const Lattice& lattice) { return {0, lattice.cells[0]}; }

/// Whether a kernel at `x` may reach the layers, in cells; also true for some that end up to a cell before them.
inline bool may_reach(const Lattice& lattice, const Layers& layers, double x, double radius) {
  double distance = x - 0.5 * double(layers.first + layers.last);
  const double around = double(lattice.cells[0]);
  if (lattice.periodic) distance -= around * std::round(distance / around);
  return std::abs(distance) < 0.5 * double(layers.count()) + radius + 1;
}

}  // namespace thor::gridding
