// Compiled once for each instruction set (THOR_ISA), problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL):
// see ThorKernels.cmake.
#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/step.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using ThisPack = NativePack<THOR_REAL>;

/// The lanes stay in registers for a slice of steps, which ends early where a lane has ended. One pack at a time: two
/// side by side gave nothing (docs/performance.md).
template <class V>
THOR_FN bool advance(const LaneArrays<THOR_REAL>& lanes, const void* bytes, int steps) {
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<V>(problem.dataset));
  Lane<V> lane = load_lane<V, Dataset>(lanes, 0);
  bool ended = false;
  for (int i = 0; i < steps && !ended; ++i) ended = any(step(lane, problem));
  store_lane<V, Dataset>(lane, lanes, 0);
  return ended;
}

bool advance_pack(const LaneArrays<THOR_REAL>& lanes, const void* problem, int steps) {
  return advance<ThisPack>(lanes, problem, steps);
}
bool advance_one(const LaneArrays<THOR_REAL>& lanes, const void* problem, int steps) {
  return advance<THOR_REAL>(lanes, problem, steps);
}

}  // namespace
}  // namespace THOR_ISA

extern const cpu::StepKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::StepKernel<THOR_REAL> THOR_ENTRY{THOR_ISA_NAME, ProblemKind::THOR_KIND, Value<ThisPack>::lanes,
                                                      advance_pack, advance_one};

}  // namespace thor
