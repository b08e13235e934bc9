#pragma once
#include <cstddef>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"

/// Smoothing particles onto a grid so that every extensive quantity is conserved.
namespace thor::gridding {

/// Particles as a deposit takes them.
struct Particles {
  int fields = 0;
  std::vector<double> position;      ///< x, y, z of each, in cells from the lower corner of the grid
  std::vector<double> radius;        ///< where the kernel ends, in cells
  std::vector<double> amount;        ///< `fields` numbers of each: what it brings
  std::vector<double> volume;        ///< of the gas element, in cells
  std::vector<std::uint32_t> owner;  ///< the gas element that it is an image of; images stand side by side

  std::size_t count() const { return radius.size(); }
};

/// Of each particle: what a weight is multiplied with so that all weights, of the cells within the grid and those
/// beyond it, sum to 1; and the sum of those within.
struct Shares {
  std::vector<double> scale, inside;
};

/// Kernels of more than `wide` cells that reach beyond an open grid are taken to have the sum of their integral, since
/// most of their cells may lie outside; the two differ by less than 1e-7 then.
inline constexpr double wide = 16;

/// No kernel may reach further: distances are in single precision, and cells are counted in 31 bits.
inline constexpr double widest_kernel = 1 << 22;

Shares shares(const Lattice& lattice, const Particles& particles, int threads);

/// A thread at a time has planes of the grid to itself, and the particles come in the same order to all of them: the
/// sums do not depend on the number of threads.
template <class T>
void deposit(CellSums<T>& sums, const Particles& particles, const Shares& shares, int threads);

}  // namespace thor::gridding
