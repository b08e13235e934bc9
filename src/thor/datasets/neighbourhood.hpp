#pragma once
#include <vector>

namespace thor {

class Cells;

/// The length of core skipping at the centre of each cell, in cells: one cell's own optical depth does nothing on fine
/// grids, so it is the shortest way to where a photon would get out of thick gas or out of the line,
///
///   l_i = min_j (l_j + |i - j|),   l_j = max(1/2, min(rho/|grad rho|, v_th/|grad v|) - 1/2),
///
/// with grad rho the largest fall of the density to one of the six neighbours (denser gas does not let a photon out),
/// grad v the largest difference of the velocity, and 1/2, the way to a face, for cells at an open side of the box.
/// Distances are along the 26 directions to neighbours (two sweeps of a chamfer transform, Borgefors 1986), which are
/// too long by 8 % at most.
std::vector<float> neighbourhood_scale(const Cells& cells, int threads);

}  // namespace thor
