#pragma once
#include <string>

#include "thor/operators/scene.hpp"

namespace thor {

class FieldSource;
struct ImageTask;

/// The gas in a plane, at points: no sum, and no way along a ray.
struct Slice {
  FieldProduct value;
  static constexpr int planes() { return 2; }  ///< the value, and 1 where there is one
};

inline namespace THOR_ISA {

template <class V>
struct SliceValue {
  const Slice& slice;
  V value;
  V there;  ///< 1: there is gas at the point

  THOR_FN explicit SliceValue(const Slice& s) : slice(s) { value = there = V(RealOf<V>(0)); }
  /// The first piece of a ray is that of its point, and the last one.
  THOR_FN MaskOf<V> add(const auto& piece, V, MaskOf<V> live) {
    value = select(live, piece.value(slice.value), value);
    there = select(live, V(RealOf<V>(1)), there);
    return MaskOf<V>(true);
  }
  THOR_FN void result(V (&out)[4]) const {
    out[0] = value, out[1] = there;
    out[2] = out[3] = V(RealOf<V>(0));
  }
};

template <class V>
THOR_FN SliceValue<V> on_ray(const Slice& slice, const float*) {
  return SliceValue<V>(slice);
}

}  // namespace THOR_ISA

namespace config {

template <class T>
class Section;

struct SliceOperator {
  using Plan = Slice;
  static constexpr const char* type = "slice";
  static constexpr const char* meaning = "a field in a plane, as it is in the cells";
  static constexpr bool needs_parallel_rays = true;  ///< a plane across rays that diverge would not be one
  static const Section<SliceOperator>& section();
  std::string name, camera, field;
  double offset = 0;  ///< of the plane from the centre of the camera, towards it [cm]

  ImageTask plan(FieldSource& fields) const;
  bool operator==(const SliceOperator&) const = default;
};

}  // namespace config
}  // namespace thor
