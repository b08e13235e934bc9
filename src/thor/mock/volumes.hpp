#pragma once
#include <span>
#include <vector>

#include "thor/mock/draw.hpp"

namespace thor::mock {

/// Volume of each point in a periodic cube: V = 4 pi/3 r_k^3 / k, with r_k the distance to its k-th neighbour. For
/// points that are random on this scale the mean of V is the inverse of their number density, so the volumes add up to
/// that of the cube. The result does not depend on the number of threads. There must be more than k points.
std::vector<double> volumes(std::span<const Vector> points, double box, int k, int threads);

}  // namespace thor::mock
