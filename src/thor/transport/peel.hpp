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

THOR_FN StreamKey stream_of(const RayKey& key) {
  return stream_key(mix64(key.seed ^ 0x7065656c206f6666ull) + std::uint64_t(key.observer), mix64(key.id) + key.event);
}

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
template <class V>
struct PeelRay {
  Lane<V> lane;
  V weight;  ///< share of the photon's light, as if it were sent into all directions
  V end;     ///< optical depth at which it ends
};

/// The state of a random stream.
template <class V>
struct PeelWords {
  WordOf<V> s0, s1, s2, s3;
};

/// A ray at rest at the place of an event, in no flight yet.
template <class V>
THOR_FN Lane<V> ray_from(const Event<V>& event, MaskOf<V> concerned, Vec3<V> towards) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  Lane<V> lane;
  lane.px = event.px, lane.py = event.py, lane.pz = event.pz, lane.depth = event.depth;
  lane.cell = select(concerned, event.cell, Int(0));
  lane.cell_y = select(concerned, event.cell_y, Int(0)), lane.cell_z = select(concerned, event.cell_z, Int(0));
  lane.dx = towards.x, lane.dy = towards.y, lane.dz = towards.z;
  lane.frequency = lane.tau = lane.flown = lane.column = lane.column_low = lane.tabulated = V(Real(0));
  lane.phase = Int(Phase::idle);
  lane.scatterings = lane.steps = lane.jumps = Int(0);
  lane.s0 = lane.s1 = lane.s2 = lane.s3 = WordOf<V>(1u);  // never drawn from
  return lane;
}

/// Lets the rays of events fly. Their sums start so that they end at the cut of all rays.
template <class V>
THOR_FN void release(PeelRay<V>& ray, const Event<V>& event, const RayRules& rules) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  ray.lane.phase = select(equal<V>(event.kind, EventKind::nothing), Int(Phase::idle), Int(Phase::fly));
  ray.lane.column = V(Real(rules.cut)) - ray.end;
  ray.lane.tabulated = V(Real(rules.depth));
}

/// What scatterings send: the phase function, and the frequency by the atom that was met.
template <class V, class P>
THOR_FN PeelRay<V> peel_scattering(const Event<V>& event, Vec3<V> towards, const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  using D = std::remove_const_t<decltype(dataset)>;
  const Int kind = event.kind & Int((1 << event_bits) - 1);
  const auto line = equal<V>(kind, EventKind::by_line), dust = equal<V>(kind, EventKind::by_dust);
  const auto concerned = line || dust;
  PeelRay<V> ray{ray_from(event, concerned, towards), V(Real(0)), event.end};
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

/// What jumps send: a second draw of how a photon leaves the sphere, from a point of it where that is towards the
/// observer. `words`: the state of a random stream of its own.
template <class V, class P>
THOR_FN PeelRay<V> peel_jump(const Event<V>& event, const RayRules& rules, Vec3<V> towards, const PeelWords<V>& words,
                             const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  using D = std::remove_const_t<decltype(dataset)>;
  const auto concerned = equal<V>(event.kind & Int((1 << event_bits) - 1), EventKind::by_jump);
  PeelRay<V> ray{ray_from(event, concerned, towards), V(Real(1)), V(Real(0))};
  Lane<V> before = ray.lane;
  before.dx = event.dx, before.dy = event.dy, before.dz = event.dz, before.frequency = event.x;
  const auto site = jump_site(before, concerned, event.kind >> event_bits, dataset, interactor, problem);
  auto random = schemes(problem.numerics).template resume<V>(words.s0, words.s1, words.s2, words.s3);
  const auto first = random.next(), second = random.next(), third = random.next(), fourth = random.next();
  const auto exit = view<V>(problem.jumps).draw(site.place, first, second, third, fourth);
  const SinCos<V> azimuth = random_angle<V>(random.next());
  ray.end = end_of_ray<V>(Real(rules.roulette), Real(rules.cut), -log(uniform_positive<V>(random.next())));
  const Vec3<V> normal = turn(towards, exit.mu, exit.sine, azimuth.cos, azimuth.sin);
  const auto reach = jump_reach(site, {event.px, event.py, event.pz}, normal, dataset);
  ray.lane.dx = normal.x, ray.lane.dy = normal.y, ray.lane.dz = normal.z;
  dataset.advance(ray.lane, select(concerned, reach.distance, V(Real(0))));
  ray.lane.dx = towards.x, ray.lane.dy = towards.y, ray.lane.dz = towards.z;
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) ray.weight = exp(-site.dust_absorption * exit.path_factor * site.depth);
  }
  ray.lane.frequency = dataset.width(site.here).times(interactor.frequency_at(site.target, exit.x) - reach.redshift);
  if constexpr (D::substeps) {
    const Vec3<V> q{ray.lane.px, ray.lane.py, ray.lane.pz};
    ray.lane.frequency = ray.lane.frequency + dataset.velocity_along(site.here, q, towards);
  }
  return ray;
}

}  // namespace THOR_ISA
}  // namespace thor
