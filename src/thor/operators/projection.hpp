#pragma once
#include <string>

#include "thor/math/vec3.hpp"
#include "thor/operators/scene.hpp"

namespace thor {

class FieldSource;
struct ImageTask;

/// Int q w ds, and Int w ds for a weighted mean.
struct Projection {
  static constexpr bool adds_up = true;  ///< numbers of a ray are sums over pieces of gas
  FieldProduct value, weight;
  constexpr bool is_weighted() const { return weight.field >= 0 || weight.velocity >= 0; }
  constexpr int planes() const { return is_weighted() ? 2 : 1; }  ///< the integral, and that of the weight
};

inline namespace THOR_ISA {

/// A sum with compensation (Kahan 1965): a ray has thousands of terms.
template <class V>
struct LongSum {
  V sum, low;
  THOR_FN void add(V more) {
    const V term = more - low, total = sum + term;
    low = (total - sum) - term;
    sum = total;
  }
  /// The same however often nothing has been added, as to a lane whose ray has ended.
  THOR_FN V total() const { return sum - low; }
};

template <class V>
struct ProjectionSums {
  const Projection& projection;
  bool weighted;
  LongSum<V> value, weight;

  THOR_FN explicit ProjectionSums(const Projection& p) : projection(p), weighted(p.is_weighted()) {
    const V zero(RealOf<V>(0));
    value = weight = {zero, zero};
  }
  THOR_FN MaskOf<V> add(const auto& piece, V length, MaskOf<V> live) {
    const V zero(RealOf<V>(0));
    V w = length;
    if (weighted) {
      w = select(live, w * piece.value(projection.weight), zero);
      weight.add(w);
    }
    value.add(select(live, w * piece.value(projection.value), zero));
    return MaskOf<V>(false);
  }
  /// The value and the weight, and nothing.
  THOR_FN void result(V (&out)[4]) const {
    out[0] = value.total(), out[1] = weight.total();
    out[2] = out[3] = V(RealOf<V>(0));
  }
};

template <class V>
THOR_FN ProjectionSums<V> on_ray(const Projection& projection, const float*) {
  return ProjectionSums<V>(projection);
}

}  // namespace THOR_ISA

namespace config {

template <class T>
class Section;

struct ProjectionOperator {
  using Plan = Projection;
  static constexpr const char* type = "projection";
  static constexpr const char* meaning = "the integral of a field along the ray of each pixel, or its weighted mean";
  static const Section<ProjectionOperator>& section();
  std::string name, camera, field, weight;
  std::uint64_t samples = 1;

  ImageTask plan(FieldSource& fields) const;
  bool operator==(const ProjectionOperator&) const = default;
};

}  // namespace config
}  // namespace thor
