#pragma once
#include <cstddef>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"

/// Deposit of particles on a grid with their kernels, so that every extensive quantity is conserved.
namespace thor::gridding {

/// Particles to deposit.
struct Particles {
  int fields = 0;
  std::vector<double> position;      ///< x, y, z of each, in cells from the lower corner of the grid
  std::vector<double> radius;        ///< radius where the kernel ends, in cells
  std::vector<double> amount;        ///< `fields` numbers for each: its extensive quantities
  std::vector<double> volume;        ///< volume of the gas element, in cells
  std::vector<std::uint32_t> owner;  ///< gas element that it is an image of; images are adjacent

  std::size_t count() const { return radius.size(); }
};

/// For each particle: the factor that makes all its weights, inside and outside the grid, sum to 1; and the sum of
/// those inside.
struct Shares {
  std::vector<double> scale, inside;
};

/// Kernels of more than `wide` cells that reach beyond an open grid are normalised by their integral instead of the
/// sum, since most of their cells may lie outside; the two then differ by less than 1e-7.
inline constexpr double wide = 16;

/// Largest kernel radius: distances are in single precision, and cells are counted in 31 bits.
inline constexpr double widest_kernel = 1 << 22;

Shares shares(const Lattice& lattice, const Particles& particles, int threads);

/// Each plane of the grid is handled by one thread at a time, and every plane receives the particles in the same order,
/// so the sums do not depend on the number of threads.
template <class T>
void deposit(CellSums<T>& sums, const Particles& particles, const Shares& shares, int threads);

}  // namespace thor::gridding
