#pragma once
#include <span>
#include <vector>

#include "thor/datasets/medium.hpp"

namespace thor {

class GridPartition;

/// The length of core skipping at the centre of each cell, in cells: one cell's own optical depth does nothing on fine
/// grids, so it is the shortest way to where a photon would get out of thick gas or out of the line,
///
///   l_i = min_j (l_j + |i - j|),   l_j = max(1/2, min(rho/|grad rho|, v_th/|grad v|) - 1/2),
///
/// with grad rho the largest fall of the density to one of the six neighbours (denser gas does not let a photon out),
/// grad v the largest difference of the velocity, and 1/2, the way to a face, for cells at an open side of the box.
/// Distances are along the 26 directions to neighbours (two sweeps of a chamfer transform, Borgefors 1986), which are
/// too long by 8 % at most.
///
/// Lengths are summed in whole numbers of 2^-15 of a cell, up to 2^16 cells: sums are the same in any order, and so is
/// the result wherever a grid is cut.
std::vector<float> neighbourhood_scale(const Cells& cells, int threads);

/// A part of a grid that this process holds: a domain, and the cells of it and of its margin.
struct HeldCells {
  int domain;
  const Cells* cells;
};

/// Collective: the same lengths where ranks hold a grid together, in each part with its margin, which is to be at least
/// one cell wide. Ranks sweep their parts and tell each other the lengths at the borders, again and again until none
/// has become shorter: then each is the shortest way through all parts.
std::vector<std::vector<float>> neighbourhood_scales(const comm::World& world, const GridPartition& partition,
                                                     const GridShape& whole, std::span<const HeldCells> held,
                                                     int threads);

/// Collective: the lengths in all cells of a medium, or of its parts that this process holds.
std::vector<std::vector<float>> core_lengths(const comm::World& world, const Medium& medium, int threads);

}  // namespace thor
