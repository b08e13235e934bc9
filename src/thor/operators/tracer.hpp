#pragma once
#include <string>

#include "thor/operators/sightlines.hpp"
#include "thor/operators/walk.hpp"

namespace thor {

/// The run of quantities along a ray, piece by piece.
struct Trace {
  int count;  ///< of quantities
  FieldProduct quantity[most_fields];
};

inline namespace THOR_ISA {

/// Fills `begins` (where a piece begins along the ray), `lengths` and, one array for each quantity, `values`, as far as
/// there is room; returns the number of pieces.
template <class Real, class S>
THOR_FN std::int64_t record_trace(const S& scene, const StraightRay& ray, const Trace& trace, std::int64_t room,
                                  double* begins, double* lengths, float* const* values) {
  double gone;
  auto walk = start_walk(scene, ray, gone);
  std::int64_t pieces = 0;
  while (walk.goes()) {
    walk.next(scene, [&](const auto& piece, Real s) THOR_INLINE_LAMBDA {
      if (!(s > Real(0))) return;
      if (pieces < room) {
        begins[pieces] = gone, lengths[pieces] = double(s);
        for (int k = 0; k < trace.count; ++k) values[k][pieces] = float(piece.value(trace.quantity[k]));
      }
      ++pieces;
      gone = gone + double(s);
    });
  }
  return pieces;
}

}  // namespace THOR_ISA

namespace config {

struct TracerOperator {
  static constexpr const char* type = "tracer";
  static constexpr const char* meaning = "fields along sightlines, piece by piece";
  static const Section<TracerOperator>& section();
  std::string name, fields;
  Sightlines sightlines;

  bool operator==(const TracerOperator&) const = default;
};

}  // namespace config
}  // namespace thor
