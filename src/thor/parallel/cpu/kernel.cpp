// Compiled once for each instruction set (THOR_ISA) and problem (THOR_DATASET, THOR_REAL): see ThorKernels.cmake.
#include "thor/transport/history.hpp"
#include "thor/transport/problems.hpp"
#include "thor/transport/step.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The lanes stay at hand for a slice of steps, which ends early where a lane has ended. One pack at a time: two side
/// by side gave nothing (docs/performance.md).
template <class V, class P>
THOR_FN bool advance(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps) {
  using Dataset = decltype(view<V>(problem.dataset));
  Lane<V> lane = load_lane<V, Dataset>(lanes, 0);
  bool ended = false;
  for (int i = 0; i < steps && !ended; ++i) ended = any(step(lane, problem));
  store_lane<V, Dataset>(lane, lanes, 0);
  return ended;
}

template <class P>
bool advance_pack(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps) {
  return advance<NativePack<typename P::Real>>(lanes, problem, steps);
}

template <class P>
bool advance_one(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps) {
  return advance<typename P::Real>(lanes, problem, steps);
}

template <class P>
void start_lane(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem,
                const EmitterView<typename P::Real>& emitter, std::uint64_t id, Origin& origin) {
  store_lane<typename P::Real>(start_photon(problem, emitter, id, origin), lanes, lane);
}

template <class P>
Photon end_lane(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem, const Origin& origin) {
  return end_photon<typename P::Real>(problem, load_lane<typename P::Real>(lanes, lane), origin);
}

template <class P>
int pack_lanes() {
  return Value<NativePack<typename P::Real>>::lanes;
}

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
template bool advance_pack(const LaneArrays<THOR_REAL>&, const ThisProblem&, int);
template bool advance_one(const LaneArrays<THOR_REAL>&, const ThisProblem&, int);
template void start_lane(const LaneArrays<THOR_REAL>&, int, const ThisProblem&, const EmitterView<THOR_REAL>&,
                         std::uint64_t, Origin&);
template Photon end_lane(const LaneArrays<THOR_REAL>&, int, const ThisProblem&, const Origin&);
template int pack_lanes<ThisProblem>();

}  // namespace THOR_ISA
}  // namespace thor
