#pragma once
#include <memory>
#include <string>

#include "thor/operators/sightlines.hpp"
#include "thor/operators/walk.hpp"

namespace thor {

class RayProduct;
class RayWork;

/// The lengths of a sightline on which a field is in each of some equal bins; the sum is the length of all of it.
struct Paths {
  FieldProduct value;
  double low, width;  ///< of the bins, in the unit of the numbers
  int bins;

  int numbers() const { return bins; }
};

inline namespace THOR_ISA {

template <class Real, class S, class Numbers>
THOR_FN double follow_sightline(const S& scene, const StraightRay& ray, const Paths& plan, const Numbers& lengths) {
  double begins, sum = 0;
  auto walk = start_walk(scene, ray, begins);
  while (walk.goes()) {
    walk.next(scene, [&](const auto& piece, Real length) THOR_INLINE_LAMBDA {
      const Real at = (piece.value(plan.value) - Real(plan.low)) / Real(plan.width);
      lengths.each([&]<class V>(V bin, V before) THOR_INLINE_LAMBDA {
        const auto inside = V(at) >= bin && V(at) < bin + V(Real(1));
        return before + select(inside, V(length), V(Real(0)));
      });
      sum += double(length);
    });
  }
  return sum;
}

}  // namespace THOR_ISA

namespace config {

struct PathsOperator {
  using Plan = Paths;
  static constexpr const char* type = "paths";
  static constexpr const char* meaning = "lengths of sightlines in bins of a field";
  static const Section<PathsOperator>& section();
  std::string name, field;
  double low = 0, high = 0;
  std::uint64_t bins = 0;
  Sightlines sightlines;

  std::unique_ptr<RayProduct> product(RayWork& work, std::size_t op) const;
};

}  // namespace config
}  // namespace thor
