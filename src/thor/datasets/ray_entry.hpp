#pragma once
#include "thor/math/functions.hpp"

/// What straight rays from far away ask of a model: its header has enter_model() and shape_of_model() for it.
namespace thor {

/// The outline of a model, in units of its size.
struct ModelShape {
  bool round;      ///< a sphere; else a cuboid
  double half[3];  ///< of its sides; infinite along some
};

/// Where a ray enters a model from outside, in units along it; in double precision, so that rays from far away are as
/// exact as others.
struct RayEntry {
  double at;
  bool outside;           ///< the ray begins outside,
  bool misses;            ///< and never enters
  double leaves = 1e300;  ///< a box
};

inline namespace THOR_ISA {

/// The sphere of radius 1.
THOR_FN RayEntry enter_sphere(const double (&p)[3], const double (&d)[3], double from) {
  const double b = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
  const double c = 1 - (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), root = fma(b, b, c);
  const double half = sqrt(max(root, 0.)), at = -b - half;
  return {at, from < at || from > half - b || root <= 0, root <= 0 || at < from};
}

/// The box from a corner to its sides, of a point p from that corner. Lower faces belong to it, upper ones do not.
THOR_FN RayEntry enter_box(const double (&p)[3], const double (&sides)[3], const double (&d)[3], double from) {
  double enters = from, leaves = 1e300;
  bool beside = false;
  for (int k = 0; k < 3; ++k) {
    if (!(abs(d[k]) > 1e-9)) {
      beside = beside || !(p[k] >= 0 && p[k] < sides[k]);
      continue;
    }
    const double inverse = 1 / d[k], a = -p[k] * inverse, b = (sides[k] - p[k]) * inverse;
    enters = max(enters, min(a, b)), leaves = min(leaves, max(a, b));
  }
  return {enters, enters > from, beside || !(leaves > enters), leaves};
}

}  // namespace THOR_ISA
}  // namespace thor
