#pragma once
#include <array>
#include <cstdint>

namespace thor {

__extension__ using Int128 = __int128;

/// A half-space 2 n.x <= h in whole numbers: |n| of each axis is at most 2^52, and h is from 0 to 2^106.
struct ExactPlane {
  std::array<std::int64_t, 3> n;
  Int128 h;
};

/// The sign of 2 n.v - h of plane p, where v is the point common to planes a, b and c: 1 if v is outside of p, 0 if it
/// lies on p. The normals of a, b and c have to be a right-handed system, n_a.(n_b x n_c) > 0.
int exact_side(const ExactPlane& a, const ExactPlane& b, const ExactPlane& c, const ExactPlane& p);

/// The point common to three planes, rounded: each coordinate to a few units of its last place.
std::array<double, 3> exact_vertex(const ExactPlane& a, const ExactPlane& b, const ExactPlane& c);

}  // namespace thor
