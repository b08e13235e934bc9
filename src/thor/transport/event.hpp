#pragma once
#include "thor/transport/collision.hpp"
#include "thor/transport/observers.hpp"

/// Events are what lanes log for observers: every jump, and every collision that a photon survives and whose light
/// leaves the gas around it towards some observer, with enough to say what it sends in any direction
/// (transport/peel.hpp).
namespace thor {

/// `by_line` and `by_dust`: a scattering. The number of the transition that was hit is added, shifted by event_bits.
enum EventKind : int { nothing = 0, by_line = 1, by_dust = 2, by_jump = 3, by_birth = 4 };
inline constexpr int event_bits = 3;

/// An event, written once for a pack and for the arrays it lives in, as LaneFields is.
template <class R, class I, class P>
struct EventFields {
  R px, py, pz;  ///< where it is, as in LaneFields
  P place;
  R dx, dy, dz;               ///< direction of the photon before the collision; of a jump as in set_jump()
  R x;                        ///< its frequency then, in the frame of the gas and in local thermal units
  R parallel, perpendicular;  ///< velocity of the atom along and across that direction
  R channel;                  ///< the draw that chose the decay of a multiplet
  R end;                      ///< optical depth at which its rays end
  R depth_of_jump;            ///< optical depth of the radius of its sphere
  I kind;                     ///< EventKind
  I steps;                    ///< steps of the photon before
  I seen;                     ///< bit o: its ray towards observer o has left the gas around it, in a Lookout
};

/// The log of a few lanes side by side: event i of lane k is entry i lanes + k of every array.
template <class Real>
struct EventLog {
  using Int = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  EventFields<Real*, Int*, AnyPlace<Real*, Int*>> arrays;
  int capacity, count;
  int waiting_since;  ///< no lane that stands before a jump was logged in an earlier entry
  Lookout<Real> lookout;
  Int scattered[16] = {};  ///< number of collisions of each lane, logged or not
};

inline namespace THOR_ISA {

/// The EventKind of an event.
THOR_FN int event_kind(std::int64_t kind) { return int(kind & ((1 << event_bits) - 1)); }

/// Calls f on each pair of corresponding fields: the one list of them.
template <class A, class B, class F>
THOR_FN void for_each_event_field(A&& a, B&& b, F f) {
  f(a.px, b.px), f(a.py, b.py), f(a.pz, b.pz);
  for_each_place_field(a.place, b.place, f);
  f(a.dx, b.dx), f(a.dy, b.dy), f(a.dz, b.dz);
  f(a.x, b.x), f(a.parallel, b.parallel), f(a.perpendicular, b.perpendicular), f(a.channel, b.channel);
  f(a.end, b.end), f(a.depth_of_jump, b.depth_of_jump), f(a.kind, b.kind), f(a.steps, b.steps), f(a.seen, b.seen);
}

/// The events of a pack, with the place of a dataset, or of any.
template <class V, class P = AnyPlace<V, IntOf<V>>>
using Event = EventFields<V, IntOf<V>, P>;

/// The same event with another type of place.
template <class P, class V, class Q>
THOR_FN Event<V, P> event_as(const Event<V, Q>& event) {
  Event<V, P> out;
  out.place = P{};
  for_each_event_field(out, event, [](auto& to, const auto& from) THOR_INLINE_LAMBDA { to = from; });
  return out;
}

/// Events that a step and the jump after it may log.
inline constexpr int events_at_once = 2;

template <class Log>
THOR_FN bool is_full(const Log& log) {
  return log.count + events_at_once > log.capacity;
}

template <class V, class P>
THOR_FN Event<V, P> load_event(const EventLog<RealOf<V>>& log, int i) {
  Event<V, P> event;
  for_each_event_field(event, log.arrays, [&](auto& value, auto* array) THOR_INLINE_LAMBDA {
    value = load<std::remove_reference_t<decltype(value)>>(array + std::int64_t(i) * Value<V>::lanes);
  });
  return event;
}

template <class V, class P>
THOR_FN void store_event(const Event<V, P>& event, const EventLog<RealOf<V>>& log, int i) {
  for_each_event_field(event, log.arrays, [&](const auto& value, auto* array) THOR_INLINE_LAMBDA {
    store(value, array + std::int64_t(i) * Value<V>::lanes);
  });
}

template <class V>
THOR_FN void count_scattered(EventLog<RealOf<V>>& log, IntOf<V> more) {
  store(load<IntOf<V>>(log.scattered) + more, log.scattered);
}

/// Whether events are scatterings of the step before these numbers of steps.
template <class V>
THOR_FN MaskOf<V> is_scattering_before(IntOf<V> kind, IntOf<V> steps, IntOf<V> now) {
  const IntOf<V> what = kind & IntOf<V>((1 << event_bits) - 1);
  return (equal<V>(what, EventKind::by_line) || equal<V>(what, EventKind::by_dust)) && equal<V>(now - steps, 1);
}
/// Lets the last scatterings of marked lanes, which stand before a jump, send no light.
template <class V>
THOR_FN void forget_scatterings(EventLog<RealOf<V>>& log, MaskOf<V> marked, IntOf<V> steps) {
  using Int = IntOf<V>;
  for (int i = log.waiting_since; i < log.count; ++i) {
    auto* const kinds = log.arrays.kind + std::int64_t(i) * Value<V>::lanes;
    const Int kind = load<Int>(kinds);
    const auto before = load<Int>(log.arrays.steps + std::int64_t(i) * Value<V>::lanes);
    store(select(marked && is_scattering_before<V>(kind, before, steps), Int(EventKind::nothing), kind), kinds);
  }
}

/// An event of no kind at the place of the lanes.
template <class V, class P>
THOR_FN Event<V, P> event_at(const Lane<V, P>& lane) {
  using Real = RealOf<V>;
  const V zero(Real(0));
  Event<V, P> event;
  event.px = lane.px, event.py = lane.py, event.pz = lane.pz, event.place = lane.place;
  event.dx = lane.dx, event.dy = lane.dy, event.dz = lane.dz;
  event.x = event.parallel = event.perpendicular = event.channel = event.end = event.depth_of_jump = zero;
  event.kind = IntOf<V>(EventKind::nothing), event.seen = IntOf<V>(-1);
  event.steps = lane.steps;
  return event;
}

/// Optical depth at which rays end: Russian roulette. From `roulette` on a ray survives with a probability of
/// e^-(tau - roulette), and its light does not fade: the mean is that of e^-tau (Lux & Koblinger 1991). `further` is an
/// exponential draw.
template <class V>
THOR_FN V end_of_ray(RealOf<V> roulette, RealOf<V> cut, V further) {
  return min(V(roulette) + further, V(cut));
}

/// The optical depth from a place towards an observer of a lookout, through what is left of its cell or sub-step: a
/// little less than that of march(), which decides.
template <class V, class D, class I, class P>
THOR_FN V depth_at_least(const Lookout<RealOf<V>>& lookout, int o, const typename D::Place& place,
                         typename D::Here here, Vec3<V> p, V frequency, const D& dataset, const I& interactor,
                         const P& problem) {
  using Real = RealOf<V>;
  const Real(&to)[3] = lookout.towards[o];
  const Vec3<V> towards{V(to[0]), V(to[1]), V(to[2])};
  const auto segment = [&]() THOR_INLINE_LAMBDA {
    if constexpr (requires { dataset.segment(place, p, towards, lookout.inverse[o]); }) {
      return dataset.segment(place, p, towards, lookout.inverse[o]);
    } else {
      return dataset.segment(place, p, towards);
    }
  }();
  Leg<V> leg = dataset.leg(here, p, towards, segment, frequency, interactor);
  if constexpr (D::stops) dataset.limit_dust(here, leg, V(Real(0)));
  V cross_section = interactor.cross_section_at_least(leg.x, dataset.width(here));
  if constexpr (D::dusty) cross_section = cross_section + dataset.dust_ratio(here, problem.dust);
  return dataset.opacity(here, leg.middle) * cross_section * leg.limit;
}

/// The observers for whom the light of collisions may not be hidden by the gas around them.
template <class V, class D, class I, class P>
THOR_FN IntOf<V> seen_by(const Lookout<RealOf<V>>& lookout, const Lane<V, typename D::Place>& lane,
                         const Collision<V, D, I, P>& c, const Flight<V, D, I>& flight, V end, const D& dataset,
                         const I& interactor, const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  if (lookout.count == 0) return Int(-1);
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const auto width = dataset.width(flight.here);
  Int seen(0);
  for (int o = 0; o < lookout.count; ++o) {
    const Real(&to)[3] = lookout.towards[o];
    const Vec3<V> towards{V(to[0]), V(to[1]), V(to[2])};
    V x = interactor.eval(c.target, c.atom, c.perpendicular, dot(d, towards)).x;
    if constexpr (D::dusty) x = select(c.by_line, x, interactor.frequency_at(c.target, c.target.x));
    V frequency = width.times(x);
    if constexpr (D::substeps) frequency = frequency + dataset.velocity_along(flight.here, p, towards);
    const V depth = depth_at_least(lookout, o, lane.place, flight.here, p, frequency, dataset, interactor, problem);
    seen = select(depth < end, seen | Int(1 << o), seen);
  }
  return seen;
}

/// Logs the collisions of a step that photons survive, before apply() changes the lanes.
template <class Log, class V, class D, class I, class P>
THOR_FN void log_collisions(Log& log, const Lane<V, typename D::Place>& lane, const Collision<V, D, I, P>& c,
                            const Flight<V, D, I>& flight, const Draws<V, P>& draws, const D& dataset,
                            const I& interactor, const P& problem) {
  using Int = IntOf<V>;
  if (!any(c.scattered)) return;
  count_scattered<V>(log, select(c.scattered, Int(1), Int(0)));
  // The draw is that of the photon's own next flight: no ray depends on that, so it need not be another one.
  const V end = end_of_ray<V>(log.lookout.roulette, log.lookout.cut, draws.tau);
  const Int seen = seen_by(log.lookout, lane, c, flight, end, dataset, interactor, problem);
  if (!any(c.scattered && !equal<V>(seen, 0))) return;
  auto event = event_at(lane);
  event.end = end, event.seen = select(c.scattered, seen, Int(0));
  event.x = interactor.frequency_at(c.target, c.target.x);
  event.parallel = c.atom.parallel, event.perpendicular = c.perpendicular;
  event.kind = select(c.scattered, select(c.by_line, Int(EventKind::by_line), Int(EventKind::by_dust)), event.kind);
  if constexpr (P::Interactor::multiplet) {
    event.channel = draws.more.channel;
    event.kind = event.kind + select(c.scattered, c.target.index << event_bits, Int(0));
  }
  store_event(event, log, log.count++);
}

}  // namespace THOR_ISA
}  // namespace thor
