#pragma once
#include <string>

#include "thor/operators/scene.hpp"

namespace thor {

class FieldSource;
struct ImageTask;

/// The largest value along the ray of each pixel.
struct Most {
  FieldProduct value;
  static constexpr int planes() { return 2; }  ///< the value, and 1 where there is one
};

inline namespace THOR_ISA {

template <class V>
struct MostOfRay {
  const Most& plan;
  V value, there;

  THOR_FN explicit MostOfRay(const Most& p) : plan(p) { value = there = V(RealOf<V>(0)); }
  THOR_FN MaskOf<V> add(const auto& piece, V length, MaskOf<V> live) {
    const V zero(RealOf<V>(0)), here = piece.value(plan.value);
    const auto counts = live && length > zero;
    value = select(counts && (here > value || there == zero), here, value);
    there = select(counts, V(RealOf<V>(1)), there);
    return MaskOf<V>(false);
  }
  THOR_FN void result(V (&out)[4]) const {
    out[0] = value, out[1] = there;
    out[2] = out[3] = V(RealOf<V>(0));
  }
};

template <class V>
THOR_FN MostOfRay<V> on_ray(const Most& plan, const float*) {
  return MostOfRay<V>(plan);
}

}  // namespace THOR_ISA

namespace config {

template <class T>
class Section;

struct MostOperator {
  using Plan = Most;
  static constexpr const char* type = "most";
  static constexpr const char* meaning = "the largest value of a field along the ray of each pixel";
  static const Section<MostOperator>& section();
  std::string name, camera, field;

  ImageTask plan(FieldSource& fields) const;
};

}  // namespace config
}  // namespace thor
