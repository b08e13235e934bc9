#pragma once
#include "thor/random/seed.hpp"
#include "thor/transport/event.hpp"
#include "thor/transport/jump.hpp"
#include "thor/transport/observers.hpp"

/// Peel-off (paper, section 3.4.1; Yusef-Zadeh, Morris & White 1984): the light that every event is expected to send
/// towards an observer. It starts a ray there, whose optical depth march() adds up.
namespace thor {
inline namespace THOR_ISA {

inline constexpr std::uint64_t at_birth = ~0ull;  ///< the event

/// The events that an event stands for. Those in the core of the line, after the first of a photon, are many, alike and
/// hidden by the gas around them: one in `thin` steps, counted off from a random one, has the light of all, which keeps
/// the mean.
template <class Real>
THOR_FN int events_of(const RayRules& rules, int kind, Real x, std::int64_t steps) {
  return kind == EventKind::by_line && steps >= rules.thin_after && abs(x) < Real(3) ? rules.thin : 1;
}
/// Where the events of a photon begin to be counted off for that.
THOR_FN std::uint32_t thinning_of(std::uint64_t seed, std::uint64_t id) {
  return std::uint32_t(mix64(mix64(seed ^ 0x7468696e6e696e67ull) ^ mix64(id)) >> 32);
}
THOR_FN bool is_drawn(std::uint32_t thinning, std::int64_t steps, int events) {
  return (thinning + std::uint32_t(steps)) % std::uint32_t(events) == 0;
}

/// Optical depth at which the ray of a birth ends.
THOR_FN double end_of_ray(const RayRules& rules, const RayKey& key) {
  const std::uint64_t observer = mix64(key.seed ^ 0x726f756c65747465ull) + std::uint64_t(key.observer);
  const std::uint64_t word = mix64(mix64(observer ^ mix64(key.id)) + key.event);
  const double u = (double(word >> 11) + 0.5) * 0x1p-53;
  return end_of_ray<double>(rules.roulette, rules.cut, -log(u));
}

/// The share of its light that a ray has left.
THOR_FN double left_of_ray(const RayRules& rules, double optical_depth) {
  return exp(-min(optical_depth, rules.roulette));
}

/// A ray towards an observer at its start.
template <class V, class Q>
struct PeelRay {
  Lane<V, Q> lane;
  V weight;                             ///< share of the photon's light, as if it were sent into all directions
  V end;                                ///< optical depth at which it ends
  MaskOf<V> beyond = MaskOf<V>(false);  ///< it begins in another part of the grid
};

/// A ray at rest at the place of an event, in no flight yet.
template <class V, class Q>
THOR_FN Lane<V, Q> ray_from(const Event<V, Q>& event, MaskOf<V> concerned, Vec3<V> towards) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  Lane<V, Q> lane;
  lane.px = event.px, lane.py = event.py, lane.pz = event.pz;
  lane.place = place_or_first<V>(concerned, event.place);
  lane.dx = towards.x, lane.dy = towards.y, lane.dz = towards.z;
  lane.frequency = lane.tau = lane.flown = lane.column = lane.column_low = lane.tabulated = V(Real(0));
  lane.phase = Int(Phase::idle);
  lane.scatterings = lane.steps = lane.jumps = Int(0);
  lane.s0 = lane.s1 = lane.s2 = lane.s3 = WordOf<V>(1u);  // never drawn from
  return lane;
}

/// Lets the rays of events fly. Their sums start so that they end at the cut of all rays.
template <class V, class Q>
THOR_FN void release(PeelRay<V, Q>& ray, const Event<V, Q>& event, const RayRules& rules) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  ray.lane.phase = select(equal<V>(event.kind, EventKind::nothing), Int(Phase::idle), Int(Phase::fly));
  ray.lane.column = V(Real(rules.cut)) - ray.end;
  ray.lane.tabulated = V(Real(rules.depth));
}

/// What scatterings send: the phase function, and the frequency by the atom that was met.
template <class V, class Q, class P>
THOR_FN PeelRay<V, Q> peel_scattering(const Event<V, Q>& event, Vec3<V> towards, const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  using D = std::remove_const_t<decltype(dataset)>;
  const Int kind = event.kind & Int((1 << event_bits) - 1);
  const auto line = equal<V>(kind, EventKind::by_line), dust = equal<V>(kind, EventKind::by_dust);
  const auto concerned = line || dust;
  PeelRay<V, Q> ray{ray_from(event, concerned, towards), V(Real(0)), event.end};
  const auto here = dataset.here(ray.lane);
  const auto width = dataset.width(here);
  const V mu = dot({event.dx, event.dy, event.dz}, towards);
  const auto target = [&]() THOR_INLINE_LAMBDA {
    if constexpr (P::Interactor::multiplet) {
      return interactor.target(event.x, event.kind >> event_bits, width);
    } else {
      return interactor.target(event.x, width);
    }
  }();
  const auto atom = interactor.atom(target, event.parallel, event.channel);
  Look<V> look = interactor.eval(target, atom, event.perpendicular, mu);
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      look.weight = select(dust, henyey_greenstein(V(problem.dust.g), mu), look.weight);
      look.x = select(dust, event.x, look.x);
    }
  }
  ray.weight = look.weight;
  ray.lane.frequency = width.times(look.x);
  if constexpr (D::substeps) {
    ray.lane.frequency = ray.lane.frequency + dataset.velocity_along(here, {event.px, event.py, event.pz}, towards);
  }
  return ray;
}

template <class V, class Q>
THOR_FN MaskOf<V> is_jump(const Event<V, Q>& event) {
  return equal<V>(event.kind & IntOf<V>((1 << event_bits) - 1), EventKind::by_jump);
}

/// The fields of an event that have a meaning of their own for jumps.
template <class V, class Q>
THOR_FN void set_jump(Event<V, Q>& event, const JumpLight<V>& light) {
  event.x = light.x, event.parallel = light.mu, event.perpendicular = light.sine, event.channel = light.left;
  event.dx = light.azimuth.cos, event.dy = light.azimuth.sin, event.dz = light.radius,
  event.depth_of_jump = light.depth;
}

/// What jumps send from gas that is `here`: the photon as it leaves the sphere, from a point of it where that is
/// towards the observer. All directions are alike, so that the same draw does for every observer.
template <class V, class Q, class Here, class P>
THOR_FN PeelRay<V, Q> peel_jump(const Event<V, Q>& event, const Here& here, Vec3<V> towards, const P& problem) {
  using Real = RealOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  using D = std::remove_const_t<decltype(dataset)>;
  const auto concerned = is_jump(event);
  PeelRay<V, Q> ray{ray_from(event, concerned, towards), event.channel, event.end};
  const auto width = dataset.width(here);
  const auto target = [&]() THOR_INLINE_LAMBDA {
    if constexpr (P::Interactor::multiplet) {
      return interactor.target(V(Real(0)), event.kind >> event_bits, width);
    } else {
      return interactor.target(V(Real(0)), width);
    }
  }();
  const Vec3<V> normal = turn(towards, event.parallel, event.perpendicular, event.dx, event.dy);
  const auto reach =
      jump_reach(here, event.dz, event.depth_of_jump, target.a, {event.px, event.py, event.pz}, normal, dataset);
  ray.lane.dx = normal.x, ray.lane.dy = normal.y, ray.lane.dz = normal.z;
  ray.beyond = dataset.leap(ray.lane, select(concerned, reach.distance, V(Real(0))));
  ray.lane.dx = towards.x, ray.lane.dy = towards.y, ray.lane.dz = towards.z;
  ray.lane.frequency = width.times(interactor.frequency_at(target, event.x) - reach.redshift);
  if constexpr (D::substeps) {
    const Vec3<V> q{ray.lane.px, ray.lane.py, ray.lane.pz};
    ray.lane.frequency = ray.lane.frequency + dataset.velocity_along(here, q, towards);
  }
  return ray;
}

template <class V, class Q, class P>
THOR_FN PeelRay<V, Q> peel_jump(const Event<V, Q>& event, Vec3<V> towards, const P& problem) {
  const auto here = view<V>(problem.dataset).here(ray_from(event, is_jump(event), towards));
  return peel_jump(event, here, towards, problem);
}

/// Logs the jumps of lanes that have just jumped from where they were `before`, if an observer may see them. The
/// collision that each of them stands for, if it was logged, sends no light.
template <class Log, class V, class Q, class P>
THOR_FN void log_jumps(Log& log, const Lane<V, Q>& before, const Lane<V, Q>& lane, const JumpLight<V>& light,
                       const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto jumped = light.jumped;
  if (!any(jumped)) return;
  count_scattered<V>(log, select(jumped, lane.scatterings - before.scatterings + Int(1), Int(0)));
  forget_scatterings<V>(log, jumped, lane.steps);
  auto event = event_at(before);
  event.steps = lane.steps;
  event.kind = select(jumped, Int(EventKind::by_jump) + ((before.phase >> phase_bits) << event_bits), event.kind);
  event.end = end_of_ray<V>(log.lookout.roulette, log.lookout.cut, light.tau);
  set_jump(event, light);
  if (log.lookout.count > 0) {
    const auto dataset = view<V>(problem.dataset);
    const auto interactor = view<V>(problem.line);
    const auto here = dataset.here(ray_from(event, jumped, {event.dx, event.dy, event.dz}));
    event.seen = Int(0);
    for (int o = 0; o < log.lookout.count; ++o) {
      const Real(&to)[3] = log.lookout.towards[o];
      const PeelRay<V, Q> ray = peel_jump(event, here, {V(to[0]), V(to[1]), V(to[2])}, problem);
      const V depth =
          depth_at_least(log.lookout, o, ray.lane.place, dataset.arrived(ray.lane, here),
                         {ray.lane.px, ray.lane.py, ray.lane.pz}, ray.lane.frequency, dataset, interactor, problem);
      event.seen = select(depth < event.end, event.seen | Int(1 << o), event.seen);
    }
    event.seen = select(jumped, event.seen, Int(0));
    if (!any(!equal<V>(event.seen, 0))) return;
  }
  store_event(event, log, log.count++);
}

}  // namespace THOR_ISA
}  // namespace thor
