// Compiled once for each instruction set (THOR_ISA) and problem (THOR_DATASET, THOR_REAL): see CMakeLists.txt.
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/datasets/sphere.hpp"
#include "thor/transport/step.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The lanes stay in registers for a slice of steps; a slice ends early where a lane has ended.
template <class V, class P>
THOR_FN bool advance(const LaneArrays<typename P::Real>& lanes, int packs, const P& problem, int steps) {
  bool ended = false;
  for (int pack = 0; pack < packs; ++pack) {
    const std::int64_t first = std::int64_t(pack) * Value<V>::lanes;
    Lane<V> lane = load_lane<V>(lanes, first);
    for (int i = 0; i < steps; ++i) {
      if (any(step(lane, problem))) {
        ended = true;
        break;
      }
    }
    store_lane<V>(lane, lanes, first);
  }
  return ended;
}

template <class P>
bool advance_pack(const LaneArrays<typename P::Real>& lanes, int packs, const P& problem, int steps) {
  return advance<NativePack<typename P::Real>>(lanes, packs, problem, steps);
}

template <class P>
bool advance_one(const LaneArrays<typename P::Real>& lanes, int packs, const P& problem, int steps) {
  return advance<typename P::Real>(lanes, packs, problem, steps);
}

template <class P>
int pack_lanes() {
  return Value<NativePack<typename P::Real>>::lanes;
}

using ThisProblem = Problem<THOR_DATASET<THOR_REAL>>;
template bool advance_pack(const LaneArrays<THOR_REAL>&, int, const ThisProblem&, int);
template bool advance_one(const LaneArrays<THOR_REAL>&, int, const ThisProblem&, int);
template int pack_lanes<ThisProblem>();

}  // namespace THOR_ISA
}  // namespace thor
