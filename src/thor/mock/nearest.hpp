#pragma once
#include <span>
#include <vector>

#include "thor/mock/draw.hpp"

namespace thor::mock {

/// How much room each point has in a periodic cube: V = 4 pi/3 r_k^3 / k, r_k the distance to its k-th neighbour. For
/// points that are random on this scale the mean of V is one over their number density, so that the volumes add up to
/// that of the cube. The same for any number of threads. There must be more than k points.
std::vector<double> volumes(std::span<const Vector> points, double box, int k, int threads);

}  // namespace thor::mock
