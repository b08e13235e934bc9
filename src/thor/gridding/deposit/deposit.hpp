#pragma once
#include <cstddef>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"

/// Deposit of particles on a grid with their kernels, so that every extensive quantity is conserved.
namespace thor::gridding {

/// Particles to be deposited.
struct Particles {
  int fields = 0;
  std::vector<double> position;      ///< x, y, z of each, in cells from the lower corner of the grid
  std::vector<double> radius;        ///< radius of the kernel, in cells
  std::vector<double> amount;        ///< `fields` amounts of each particle
  std::vector<double> volume;        ///< volume of the gas element, in cells
  std::vector<std::uint32_t> owner;  ///< index of the gas element; images of one element are contiguous

  std::size_t count() const { return radius.size(); }
};

/// For each particle, the factor that makes its weights in the cells inside and outside the grid sum to 1, and the sum
/// of those inside.
struct Shares {
  std::vector<double> scale, inside;
};

/// For kernels wider than `wide` cells that extend beyond an open grid, the sum of weights is replaced by the integral
/// of the kernel, since most of their cells may be outside; the two then differ by less than 1e-7.
inline constexpr double wide = 16;

/// Largest radius of a kernel: distances are in single precision, and cells are counted in 31 bits.
inline constexpr double widest_kernel = 1 << 22;

Shares shares(const Lattice& lattice, const Particles& particles, int threads);

/// Adds particles to the sums, of which only what reaches their layers is deposited. Each plane of the grid is filled
/// by one thread at a time and in an order of the particles that depends on nothing else, so the sums do not depend on
/// the number of threads or the layers, nor on particles that do not reach them.
template <class T>
void deposit(CellSums<T>& sums, const Particles& particles, const Shares& shares, int threads);

}  // namespace thor::gridding
