#pragma once
#include "thor/operators/walk.hpp"

namespace thor {

/// Quantities that are recorded along a ray, piece by piece.
struct Quantities {
  int count;
  FieldProduct quantity[most_fields];
};

inline namespace THOR_ISA {

/// Fills `begins` (where a piece begins along the ray), `lengths` and, one array for each quantity, `values`, as far as
/// there is room; returns the number of pieces.
template <class Real, class S>
THOR_FN std::int64_t record_ray(const S& scene, const StraightRay& ray, const Quantities& quantities, std::int64_t room,
                                double* begins, double* lengths, float* const* values) {
  double gone;
  auto walk = start_walk(scene, ray, gone);
  std::int64_t pieces = 0;
  while (walk.goes()) {
    walk.next(scene, [&](const auto& piece, Real s) THOR_INLINE_LAMBDA {
      if (!(s > Real(0))) return;
      if (pieces < room) {
        begins[pieces] = gone, lengths[pieces] = double(s);
        for (int k = 0; k < quantities.count; ++k) values[k][pieces] = float(piece.value(quantities.quantity[k]));
      }
      ++pieces;
      gone = gone + double(s);
    });
  }
  return pieces;
}

}  // namespace THOR_ISA
}  // namespace thor
