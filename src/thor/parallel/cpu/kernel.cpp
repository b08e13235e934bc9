// Compiled once for each instruction set (THOR_ISA), problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL):
// see ThorKernels.cmake.
#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/peel.hpp"
#include "thor/transport/step.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using ThisPack = NativePack<THOR_REAL>;

/// The jumps of lanes that stand before one; true if some lane has ended. Apart from the steps: a call among them, and
/// as much code again inlined, both take registers from them (docs/contributing/kernel-performance.md).
template <class V>
THOR_FN bool jump(const LaneArrays<THOR_REAL>& lanes, const void* bytes, EventLog<THOR_REAL>* log) {
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<V>(problem.dataset));
  auto lane = load_lane<V, typename Dataset::Place>(lanes, 0);
  const auto before = lane;
  const JumpLight<V> light = jump(lane, problem);
  if (log) log_jumps(*log, before, lane, light, problem);
  store_lane(lane, lanes, 0);
  return any(!in_flight(lane) && !equal<V>(lane.phase, Phase::idle));
}
THOR_NOINLINE bool jump_pack(const LaneArrays<THOR_REAL>& lanes, const void* problem, EventLog<THOR_REAL>* log) {
  return jump<ThisPack>(lanes, problem, log);
}
THOR_NOINLINE bool jump_one(const LaneArrays<THOR_REAL>& lanes, const void* problem, EventLog<THOR_REAL>* log) {
  return jump<THOR_REAL>(lanes, problem, log);
}

/// Whether lanes that stand before a jump had better wait for others: a jump takes about as long as a step, for one
/// lane or for all. No lane has ended.
template <class V, class P>
THOR_FN bool may_wait(const Lane<V, P>& lane) {
  if constexpr (Value<V>::lanes < 8) return false;
  const auto jumps = before_jump(lane), flies = in_flight(lane);
  const auto idle = equal<V>(lane.phase, Phase::idle);
  return !any(!jumps && !flies && !idle) && 2 * count(jumps) < count(jumps || flies);
}

/// The lanes stay in registers for a slice of steps, which ends early where a lane has ended. One pack at a time: two
/// side by side gave nothing (docs/notes/kernels.md).
template <class V>
THOR_FN bool advance(const LaneArrays<THOR_REAL>& lanes, const void* bytes, int steps, EventLog<THOR_REAL>* log,
                     auto jump) {
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<V>(problem.dataset));
  for (;;) {
    auto lane = load_lane<V, typename Dataset::Place>(lanes, 0);
    bool leaves = false, waits = false;
    for (; steps > 0 && !leaves; --steps) {
      if (any(step(lane, problem, log))) {
        if (log && !waits) log->waiting_since = log->count > 0 ? log->count - 1 : 0;
        waits = may_wait(lane);
        leaves = !waits;
      }
      if (log) [[unlikely]]
        leaves = leaves || is_full(*log);
    }
    store_lane(lane, lanes, 0);
    if (problem.jumps.depth_count == 0 || !(leaves || waits)) return leaves;
    if (jump(lanes, bytes, log) || (log && is_full(*log))) return true;
  }
}

/// A loop of its own: the test whether there is a log costs a loop without one 4 % of its speed.
THOR_NOINLINE bool advance_logged(const LaneArrays<THOR_REAL>& lanes, const void* problem, int steps,
                                  EventLog<THOR_REAL>* log) {
  return advance<ThisPack>(lanes, problem, steps, log, jump_pack);
}
bool advance_pack(const LaneArrays<THOR_REAL>& lanes, const void* problem, int steps, EventLog<THOR_REAL>* log) {
  if (log) return advance_logged(lanes, problem, steps, log);
  return advance<ThisPack>(lanes, problem, steps, nullptr, jump_pack);
}
bool advance_one(const LaneArrays<THOR_REAL>& lanes, const void* problem, int steps, EventLog<THOR_REAL>* log) {
  return advance<THOR_REAL>(lanes, problem, steps, log, jump_one);
}

}  // namespace
}  // namespace THOR_ISA

extern const cpu::StepKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::StepKernel<THOR_REAL> THOR_ENTRY{THOR_ISA_NAME, ProblemKind::THOR_KIND, Value<ThisPack>::lanes,
                                                      advance_pack, advance_one};

}  // namespace thor
