#pragma once
#include "thor/operators/scene.hpp"

namespace thor {

/// The gas in a plane, at points: no sum, and no way along a ray.
struct Slice {
  FieldProduct value;
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

}  // namespace THOR_ISA
}  // namespace thor
