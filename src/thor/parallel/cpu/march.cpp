// Compiled once for each instruction set (THOR_ISA), problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL):
// see ThorKernels.cmake.
#include "thor/transport/march.hpp"

#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/peel.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using ThisPack = NativePack<THOR_REAL>;

bool march_pack(const LaneArrays<THOR_REAL>& lanes, const void* bytes, THOR_REAL cut, int steps) {
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<ThisPack>(problem.dataset));
  auto lane = load_lane<ThisPack, typename Dataset::Place>(lanes, 0);
  bool ended = false;
  for (int i = 0; i < steps && !ended; ++i) ended = any(march(lane, problem, cut));
  store_lane(lane, lanes, 0);
  return ended;
}

void peel_pack(const EventLog<THOR_REAL>& log, const void* bytes, const RayRules& rules, const double (&towards)[3],
               const LaneArrays<THOR_REAL>& starts, const LaneArrays<THOR_REAL>& rays, THOR_REAL* weights,
               THOR_REAL* ends) {
  using V = ThisPack;
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<V>(problem.dataset));
  const auto event = load_event<V, typename Dataset::Place>(log, 0);
  const Vec3<V> n{V(THOR_REAL(towards[0])), V(THOR_REAL(towards[1])), V(THOR_REAL(towards[2]))};
  PeelRay<V, typename Dataset::Place> ray;
  if (problem.jumps.depth_count > 0 && any(is_jump(event))) {
    ray = peel_jump(event, n, problem);
  } else {
    ray = peel_scattering(event, n, problem);
  }
  release(ray, event, rules);
  store_lane(ray.lane, starts, 0);
  // Another part has the gas of those that begin there.
  using Int = IntOf<V>;
  ray.lane.phase = select(ray.beyond, Int(Phase::idle), ray.lane.phase);
  ray.lane.place = place_or_first<V>(!ray.beyond, ray.lane.place);
  constexpr int first_segments = 4;  // most rays end there
  bool departs = false;
  for (int i = 0; i < first_segments && any(equal<V>(ray.lane.phase, Phase::fly)) && !departs; ++i) {
    march(ray.lane, problem, THOR_REAL(rules.cut));
    // The gas of a ray that has left this part is not here, even if it ends there.
    const auto left = equal<V>(ray.lane.phase, Phase::departs);
    departs = any(left);
    ray.lane.place = place_or_first<V>(equal<V>(ray.lane.phase, Phase::fly) || left, ray.lane.place);
  }
  store_lane(ray.lane, rays, 0);
  store(ray.weight, weights), store(ray.end, ends);
}

void start_pack(const EventLog<THOR_REAL>& log, const void* bytes, const double (&towards)[3],
                const LaneArrays<THOR_REAL>& starts) {
  using V = ThisPack;
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<V>(problem.dataset));
  const Vec3<V> n{V(THOR_REAL(towards[0])), V(THOR_REAL(towards[1])), V(THOR_REAL(towards[2]))};
  store_lane(peel_scattering(load_event<V, typename Dataset::Place>(log, 0), n, problem).lane, starts, 0);
}

}  // namespace
}  // namespace THOR_ISA

extern const cpu::MarchKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::MarchKernel<THOR_REAL> THOR_ENTRY{
    THOR_ISA_NAME, ProblemKind::THOR_KIND, Value<ThisPack>::lanes, march_pack, peel_pack, start_pack};

}  // namespace thor
