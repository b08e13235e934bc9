#pragma once
#include "thor/transport/event.hpp"
#include "thor/transport/jump.hpp"

/// The life of a photon, one bounded piece of work at a time: FLY, then COLLIDE in the same call. There are no loops
/// of unknown length and no libm; a lane that is not concerned computes along and keeps its state.
namespace thor {
inline namespace THOR_ISA {

/// One step of every lane; true where a lane has ended or stands before a jump. Events go to the log, if there is one.
template <class V, class Q, class P, class Log = EventLog<RealOf<V>>>
THOR_FN MaskOf<V> step(Lane<V, Q>& lane, const P& problem, Log* log = nullptr) {
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  static_assert(DatasetFor<std::remove_const_t<decltype(dataset)>, V, Lane<V, Q>, P>);
  const auto active = in_flight(lane);
  auto draws = draw_collision<V, decltype(dataset)>(lane, problem);
  const auto flight = fly(lane, draws, dataset, interactor, problem);
  const auto collision = collide(lane, flight, draws, dataset, interactor, problem);
  if (log) [[unlikely]]
    log_collisions(*log, lane, collision, flight, draws, dataset, interactor, problem);
  apply(lane, collision, flight, draws, dataset);
  if (problem.jumps.depth_count > 0) [[unlikely]]
    mark_jumps(lane, collision, flight, dataset, problem);

  lane.steps = lane.steps + select(active, Int(1), Int(0));
  const auto live = in_flight(lane);
  const auto too_many = at_least<V>(lane.scatterings, problem.limits.scatterings);
  const auto too_long = at_least<V>(lane.steps, problem.limits.steps);
  auto on_its_way = live;
  if (dataset.is_part()) [[unlikely]]
    on_its_way = live || equal<V>(lane.phase, Phase::departs);
  const auto over = on_its_way && (too_many || too_long);
  lane.phase = select(over, Int(Phase::lost), lane.phase);
  return (active && !live) || over;
}

}  // namespace THOR_ISA
}  // namespace thor
