#pragma once
#include "thor/transport/collision.hpp"

/// JUMP: a collision that is replaced, with all that would follow, by one draw of how the photon leaves the largest
/// sphere of homogeneous gas around it. In the core the photon is absorbed in the centre of the sphere; in the wing it
/// has just been scattered there, into any direction.
namespace thor {
inline namespace THOR_ISA {

/// Whether a lane stands before a jump.
template <class V, class P>
THOR_FN MaskOf<V> before_jump(const Lane<V, P>& lane) {
  return equal<V>(lane.phase & IntOf<V>(Phase::jumping), Phase::jumping) && !equal<V>(lane.phase, Phase::idle);
}

/// The radius of homogeneous gas around a place of this opacity at line centre. Short by some rounding errors, and by
/// what gradients add, so that the sphere does not reach beyond a face.
template <class V, class D, class P>
THOR_FN V jump_room(const Lane<V, typename D::Place>& lane, const typename D::Here& here, V opacity, const D& dataset,
                    const P& problem) {
  using Real = RealOf<V>;
  V room = V(Real(1 - 1e-5)) * dataset.room(lane, here, problem.jumps);
  if constexpr (D::substeps) {
    if (dataset.varies()) room = room * V(Real(1) - Real(0.5) * problem.jumps.gradient);
  }
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      const V ratio = dataset.dust_ratio(here, problem.dust);
      const V turning = ratio * opacity * V(problem.dust.albedo * (Real(1) - problem.dust.g));
      room = min(room, divide(V(problem.jumps.dust_depth), max(turning, V(Real(1e-30)))));
    }
  }
  return room;
}

/// Deep tables have no gradients.
template <class D, class P>
THOR_FN bool has_deep(const D& dataset, const P& problem) {
  if constexpr (D::substeps) {
    if (dataset.varies()) return false;
  }
  return problem.jumps.deep != 0;
}

/// What a marked lane of a single line has in place of a transition.
struct JumpFrom {
  enum : int { core, wing };
};

/// Marks the lanes whose collision may be a jump: in the core, or scattered in the wing with room for a deep table, and
/// not with dust. What apply() has done to them stays for those that turn out to have no room.
template <class V, class D, class I, class P>
THOR_FN void mark_jumps(Lane<V, typename D::Place>& lane, const Collision<V, D, I, P>& c, const Flight<V, D, I>& flight,
                        const D& dataset, const P& problem) {
  using Int = IntOf<V>;
  const auto by_dust = (c.scattered || c.destroyed) && !c.by_line;
  const V x = abs(c.target.x);
  const auto jumps = flight.hit && !by_dust && x < V(problem.jumps.trigger);
  Int phase = (lane.phase & Int(Phase::collide)) + Int(Phase::jumping);
  if constexpr (P::Interactor::multiplet) phase = phase + (c.target.index << phase_bits);
  lane.phase = select(jumps, phase, lane.phase);
  if constexpr (!P::Interactor::multiplet) {
    if (has_deep(dataset, problem)) [[unlikely]] {
      const Vec3<V> p{lane.px, lane.py, lane.pz};
      const V opacity = dataset.opacity(flight.here, p);
      const V a_tau = c.target.a * opacity * jump_room(lane, flight.here, opacity, dataset, problem);
      const auto wing = c.by_line && x > V(problem.jumps.wing_trigger) && a_tau > V(problem.jumps.wing_least) &&
                        a_tau > V(problem.jumps.wing_depth) * x * x;
      lane.phase = select(wing, Int(Phase::jumping + (JumpFrom::wing << phase_bits)), lane.phase);
    }
  }
}

/// The sphere around a lane that a jump can leave, if there is a table for it.
template <class V, class D, class I>
struct JumpSite {
  typename D::Here here;
  typename I::template Target<typename D::Width> target;
  JumpPlace<V> place;
  V strength;         ///< opacity of the transition over that of the first
  V depth, radius;    ///< line-centre optical depth of the radius, that of a table
  V dust_absorption;  ///< by dust, over the line-centre opacity of the transition
};

/// A lane that is `concerned` stands in gas; others may be in no cell. One in the wing has been scattered.
template <class V, class D, class I, class P>
THOR_FN JumpSite<V, D, I> jump_site(Lane<V, typename D::Place> lane, MaskOf<V> concerned, IntOf<V> transition,
                                    const D& dataset, const I& interactor, const P& problem) {
  using Real = RealOf<V>;
  const V zero(Real(0));
  const auto tables = view<V>(problem.jumps);
  lane.place = place_or_first<V>(concerned, lane.place);
  JumpSite<V, D, I> site;
  site.here = dataset.here(lane);
  const Vec3<V> p{lane.px, lane.py, lane.pz};
  const auto width = dataset.width(site.here);
  if constexpr (P::Interactor::multiplet) {
    site.target = interactor.target(zero, transition, width);
  } else {
    site.target = interactor.target(zero, width);
  }
  site.strength = interactor.strength(site.target);
  const V opacity = dataset.opacity(site.here, p), kappa = site.strength * opacity;
  const V room = jump_room(lane, site.here, opacity, dataset, problem);
  site.dust_absorption = zero;
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      const V ratio = dataset.dust_ratio(site.here, problem.dust);
      site.dust_absorption = divide(ratio * V(Real(1) - problem.dust.albedo), site.strength);
    }
  }
  const V depth = min(kappa * room, interactor.jump_depth(site.target));
  if (has_deep(dataset, problem)) {
    MaskOf<V> wing(false);
    V x = zero;
    if constexpr (!P::Interactor::multiplet) {
      wing = equal<V>(transition, JumpFrom::wing);
      x = lane.frequency;
      if constexpr (D::substeps) x = x - dataset.velocity_along(site.here, p, {lane.dx, lane.dy, lane.dz});
      x = width.over(x);
    }
    site.place = tables.place(depth, site.target.a, x, wing);
  } else {
    site.place = tables.place(depth, site.target.a);
  }
  site.place.recoil = interactor.recoil(site.target);
  site.depth = depth * site.place.shrink, site.radius = divide(site.depth, max(kappa, V(Real(1e-30))));
  return site;
}

/// What a jump sends out of its sphere, in any direction.
template <class V>
struct JumpLight {
  MaskOf<V> jumped;
  V x, mu, sine;      ///< frequency in thermal units, angle between direction and normal
  V left;             ///< share of the light that dust does not absorb inside
  V radius, depth;    ///< of the sphere, the latter as an optical depth at line centre
  SinCos<V> azimuth;  ///< of the direction around the normal
  V tau;              ///< an exponential draw
};

/// How far from the centre a photon leaves along a normal, and the redshift since it was in the core [thermal speeds of
/// the gas], to first order in the gradients (docs/acceleration.md): the same optical depth in every direction,
/// and a fit for a tau < 100.
template <class V>
struct JumpReach {
  V distance, redshift;
};
template <class V, class D>
THOR_FN JumpReach<V> jump_reach(const typename D::Here& here, V radius, V depth, V a, Vec3<V> p, Vec3<V> normal,
                                const D& dataset) {
  using Real = RealOf<V>;
  const V one(Real(1));
  JumpReach<V> reach{radius, V(Real(0))};
  if constexpr (D::substeps) {
    if (dataset.varies()) {
      reach.distance = radius * fma(V(Real(-0.5)) * radius, dataset.density_slope(p, normal), one);
      const V a_tau = max(min(a * depth, V(Real(100))), V(Real(1e-30)));
      const V flown = fma(V(Real(0.49)), exp(V(Real(0.46)) * log(a_tau)), V(Real(0.5)));
      reach.redshift = dataset.velocity_slope(here, p) * radius * flown;
    }
  }
  return reach;
}

/// The share of its scatterings that a photon has had after the share t of its path up to the last one: t, and a little
/// more, since it begins in the core. From exact histories of a = 1e-5 to 0.1 and depths of 95 to 3e4, good to 0.5 %.
template <class V>
THOR_FN V scattered_by_then(V t, V depth, V a) {
  using Real = RealOf<V>;
  const V one(Real(1)), tiny(Real(1e-10));
  const V z = exp(V(Real(1.5)) * log(max(a * depth, tiny) * V(Real(1. / 45))));
  const V start = V(Real(0.0565)) * exp(V(Real(-0.28)) * log(max(depth, one)));
  const V early = V(Real(0.017)) + divide(V(Real(0.5)) * z, one + z) + divide(start, t + V(Real(0.01)));
  return t * fma(early, one - t, one);
}

/// Photons that dust absorbs after a share of their path. Where on its path a photon is absorbed is exact; how far it
/// has come by then and after how many scatterings are fits to exact histories (docs/acceleration.md#sphere-jumps).
template <class V>
THOR_FN void end_in_dust(MaskOf<V> absorbed, V share, V before_last, V depth, V a, V& reach, V& scatterings, V& path) {
  using Real = RealOf<V>;
  const V one(Real(1)), tiny(Real(1e-30));
  const V left = log(max(one - share, tiny));
  const V so_far = scattered_by_then(min(divide(share * path, max(before_last, tiny)), one), depth, a);
  reach = select(absorbed, reach * (one - exp(V(Real(2. / 3)) * left)), reach);
  scatterings = select(absorbed, max(scatterings * so_far, one), scatterings);
  path = select(absorbed, path * share, path);
}

/// Carries out the jumps of marked lanes. It needs nothing but the lane, so that a step keeps nothing for it. All
/// random words come after those of the collision.
template <class V, class Q, class P>
THOR_FN JumpLight<V> jump(Lane<V, Q>& lane, const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  constexpr bool multiplet = P::Interactor::multiplet;
  const auto dataset = view<V>(problem.dataset);
  const auto interactor = view<V>(problem.line);
  const auto tables = view<V>(problem.jumps);
  using D = std::remove_const_t<decltype(dataset)>;
  const V zero(Real(0)), one(Real(1));

  auto jumps = before_jump(lane);
  const Int transition = lane.phase >> phase_bits;
  Int phase = lane.phase & Int(Phase::collide);
  if constexpr (multiplet) phase = phase + select(equal<V>(phase, Phase::fly), Int(0), transition << phase_bits);
  const auto scattered = equal<V>(phase, Phase::fly);
  lane.phase = select(jumps, phase, lane.phase);
  Lane<V, Q> moved = lane;
  const Vec3<V> p{lane.px, lane.py, lane.pz};
  const auto site = jump_site(lane, jumps, transition, dataset, interactor, problem);
  const auto& target = site.target;
  const auto width = dataset.width(site.here);
  jumps = jumps && site.place.exists;
  JumpLight<V> light{};
  light.jumped = jumps;
  if (!any(jumps)) return light;

  auto random = schemes(problem.numerics).template resume<V>(lane.s0, lane.s1, lane.s2, lane.s3);
  const auto first = random.next(), second = random.next(), third = random.next(), fourth = random.next();
  const auto exit = tables.draw(site.place, first, second, third, fourth);
  const auto cosine = random.next(), turn_word = random.next(), azimuth_word = random.next(), tau_word = random.next();
  const Vec3<V> normal = isotropic_direction<V>(cosine, turn_word);
  auto [reach, redshift] = jump_reach(site.here, site.radius, site.depth, target.a, p, normal, dataset);
  const SinCos<V> azimuth = random_angle<V>(azimuth_word);
  const Vec3<V> n = turn(normal, exit.mu, exit.sine, azimuth.cos, azimuth.sin);
  V x = exit.x, path = exit.path_factor * site.depth, scatterings = exit.scatterings;
  MaskOf<V> absorbed(false);
  light.left = one;
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      const V passes = -log(uniform_positive<V>(random.next()));  // optical depth of dust that the photon can pass
      light.left = exp(-site.dust_absorption * path);
      const V share = divide(passes, max(site.dust_absorption * path, V(Real(1e-30))));
      absorbed = jumps && share < one;
      end_in_dust(absorbed, share, path - exit.last * site.depth, site.depth, target.a, reach, scatterings, path);
      x = select(absorbed, fma(x - site.place.x, uniform<V>(tau_word), site.place.x), x);
    }
  }

  moved.dx = normal.x, moved.dy = normal.y, moved.dz = normal.z;
  const auto beyond = dataset.leap(moved, select(jumps, reach, zero));
  add_column(moved, width.times(divide(path, site.strength)));
  V frequency = width.times(interactor.frequency_at(target, x) - redshift);
  if constexpr (D::substeps) {
    frequency = frequency + dataset.velocity_along(site.here, Vec3<V>{moved.px, moved.py, moved.pz}, n);
  }
  moved.dx = n.x, moved.dy = n.y, moved.dz = n.z;
  moved.frequency = frequency;
  moved.tau = -log(uniform_positive<V>(tau_word));
  moved.flown = select(absorbed, zero, exit.last * site.radius);
  moved.scatterings = lane.scatterings - select(scattered, Int(1), Int(0));
  moved.jumps = lane.jumps + Int(1);
  moved.tabulated = lane.tabulated + scatterings;
  moved.phase = select(absorbed, Int(Phase::absorbed), select(beyond, Int(Phase::departs), Int(Phase::fly)));
  const auto words = words_of(random);
  moved.s0 = words.s0, moved.s1 = words.s1, moved.s2 = words.s2, moved.s3 = words.s3;
  for_each_field(lane, moved, [&](auto& now, const auto& then) THOR_INLINE_LAMBDA { now = select(jumps, then, now); });
  light.x = exit.x, light.mu = exit.mu, light.sine = exit.sine;
  light.radius = site.radius, light.depth = site.depth, light.azimuth = azimuth, light.tau = moved.tau;
  return light;
}

}  // namespace THOR_ISA
}  // namespace thor
