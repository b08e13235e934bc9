#pragma once
#include "thor/transport/collision.hpp"

/// Events are what lanes log for observers: every collision that a photon survives and every jump, with enough to say
/// what it sends in any direction (transport/peel.hpp).
namespace thor {

/// `by_line` and `by_dust`: a scattering. The number of the transition that was hit is added, shifted by event_bits.
enum EventKind : int { nothing = 0, by_line = 1, by_dust = 2, by_jump = 3, by_birth = 4 };
inline constexpr int event_bits = 3;

/// An event, written once for a pack and for the arrays it lives in, as LaneFields is.
template <class R, class I>
struct EventFields {
  R px, py, pz, depth;  ///< the place, as in LaneFields
  I cell, cell_y, cell_z;
  R dx, dy, dz;               ///< direction of the photon before the collision
  R x;                        ///< its frequency then, in the frame of the gas and in local thermal units
  R parallel, perpendicular;  ///< velocity of the atom along and across that direction
  R channel;                  ///< the draw that chose the decay of a multiplet
  I kind;                     ///< EventKind
  I steps;                    ///< steps of the photon before
};

/// The log of a few lanes side by side: event i of lane k is entry i lanes + k of every array.
template <class Real>
struct EventLog {
  EventFields<Real*, std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>*> arrays;
  int capacity, count;
};

inline namespace THOR_ISA {

/// The EventKind of an event.
THOR_FN int event_kind(std::int64_t kind) { return int(kind & ((1 << event_bits) - 1)); }

/// Calls f on each pair of corresponding fields: the one list of them.
template <class A, class B, class F>
THOR_FN void for_each_event_field(A&& a, B&& b, F f) {
  f(a.px, b.px), f(a.py, b.py), f(a.pz, b.pz), f(a.depth, b.depth);
  f(a.cell, b.cell), f(a.cell_y, b.cell_y), f(a.cell_z, b.cell_z);
  f(a.dx, b.dx), f(a.dy, b.dy), f(a.dz, b.dz);
  f(a.x, b.x), f(a.parallel, b.parallel), f(a.perpendicular, b.perpendicular), f(a.channel, b.channel);
  f(a.kind, b.kind), f(a.steps, b.steps);
}

template <class V>
using Event = EventFields<V, IntOf<V>>;

/// Events that a step and the jump after it may log.
inline constexpr int events_at_once = 2;

template <class Log>
THOR_FN bool is_full(const Log& log) {
  return log.count + events_at_once > log.capacity;
}

template <class V>
THOR_FN Event<V> load_event(const EventLog<RealOf<V>>& log, int i) {
  Event<V> event;
  for_each_event_field(event, log.arrays, [&](auto& value, auto* array) THOR_INLINE_LAMBDA {
    value = load<std::remove_reference_t<decltype(value)>>(array + std::int64_t(i) * Value<V>::lanes);
  });
  return event;
}

template <class V>
THOR_FN void store_event(const Event<V>& event, const EventLog<RealOf<V>>& log, int i) {
  for_each_event_field(event, log.arrays, [&](const auto& value, auto* array) THOR_INLINE_LAMBDA {
    store(value, array + std::int64_t(i) * Value<V>::lanes);
  });
}

/// An event of no kind at the place of the lanes.
template <class V>
THOR_FN Event<V> event_at(const Lane<V>& lane) {
  using Real = RealOf<V>;
  const V zero(Real(0));
  Event<V> event;
  event.px = lane.px, event.py = lane.py, event.pz = lane.pz, event.depth = lane.depth;
  event.cell = lane.cell, event.cell_y = lane.cell_y, event.cell_z = lane.cell_z;
  event.dx = lane.dx, event.dy = lane.dy, event.dz = lane.dz;
  event.x = event.parallel = event.perpendicular = event.channel = zero;
  event.kind = IntOf<V>(EventKind::nothing);
  event.steps = lane.steps;
  return event;
}

/// Logs the collisions of a step that photons survive, before apply() changes the lanes.
template <class Log, class V, class D, class I, class P>
THOR_FN void log_collisions(Log& log, const Lane<V>& lane, const Collision<V, D, I, P>& c, const Draws<V, P>& draws,
                            const I& interactor) {
  using Int = IntOf<V>;
  if (!any(c.scattered)) return;
  Event<V> event = event_at(lane);
  event.x = interactor.frequency_at(c.target, c.target.x);
  event.parallel = c.atom.parallel, event.perpendicular = c.perpendicular;
  event.kind = select(c.scattered, select(c.by_line, Int(EventKind::by_line), Int(EventKind::by_dust)), event.kind);
  if constexpr (P::Interactor::multiplet) {
    event.channel = draws.more.channel;
    event.kind = event.kind + select(c.scattered, c.target.index << event_bits, Int(0));
  }
  store_event(event, log, log.count++);
}

/// Logs the jumps of lanes that have just jumped from where they were `before`. The collision that each of them stands
/// for, if it was logged, sends no light.
template <class Log, class V>
THOR_FN void log_jumps(Log& log, const Lane<V>& before, const Lane<V>& lane) {
  using Int = IntOf<V>;
  const auto jumped = !equal<V>(lane.jumps - before.jumps, 0);
  if (!any(jumped)) return;
  if (log.count > 0) {
    Event<V> last = load_event<V>(log, log.count - 1);
    const Int kind = last.kind & Int((1 << event_bits) - 1);
    const auto scattering = equal<V>(kind, EventKind::by_line) || equal<V>(kind, EventKind::by_dust);
    const auto same = jumped && scattering && equal<V>(lane.steps - last.steps, 1);
    last.kind = select(same, Int(EventKind::nothing), last.kind);
    store_event(last, log, log.count - 1);
  }
  Event<V> event = event_at(before);
  event.steps = lane.steps;
  event.kind = select(jumped, Int(EventKind::by_jump) + ((before.phase >> phase_bits) << event_bits), event.kind);
  store_event(event, log, log.count++);
}

}  // namespace THOR_ISA
}  // namespace thor
