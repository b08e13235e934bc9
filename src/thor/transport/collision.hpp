#pragma once
#include "thor/transport/flight.hpp"

/// COLLIDE: what a collision does to a photon, as a value. Only apply() writes it to the lane.
namespace thor {
inline namespace THOR_ISA {

template <class V, class D, class I, class P>
struct Collision {
  typename I::template Target<typename D::Width> target;  ///< the transition that was hit
  typename I::Atom atom;                                  ///< the atom that was met
  V perpendicular;                                        ///< its velocity across the photon
  Outcome<V> outcome;                                     ///< the photon after it, in the frame of the gas
  MaskOf<V> colliding;                                    ///< lanes that are at a collision
  MaskOf<V> scattered;                                    ///< of these, the ones that fly on
  MaskOf<V> by_line;                                      ///< of these, the ones that the line scattered
  MaskOf<V> destroyed;                                    ///< absorbed by dust
  IntOf<V> pending;                                       ///< phase of a lane that needs another proposal
  typename Draws<V, P>::Random random;                    ///< the state after the collision
};

/// Absorption on the hidden path, by dust of this share of the opacity at line centre: the number of hidden scatterings
/// is geometric, so the share that survives is 1/(1 + depth).
template <class V>
THOR_FN MaskOf<V> is_caught(V absorbing, V x_crit, V a, V uniform) {
  const V depth = absorbing * hidden_path(x_crit, a);
  return uniform * (V(RealOf<V>(1)) + depth) <= depth;
}

/// One proposal for the atom; if it is accepted, a new direction and frequency.
template <class V, class D, class I, class P>
THOR_FN Collision<V, D, I, P> collide(const Lane<V, typename D::Place>& lane, const Flight<V, D, I>& flight,
                                      const Draws<V, P>& draws, const D& dataset, const I& interactor,
                                      const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  constexpr bool multiplet = P::Interactor::multiplet;
  const V zero(Real(0));
  const auto& core_skip = problem.core_skip;
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const auto& here = flight.here;
  const auto width = dataset.width(here);
  V x = flight.x;
  if constexpr (D::substeps) {
    if (dataset.varies()) {  // the opacity was taken at mid-step
      x = width.over(lane.frequency - dataset.velocity_along(here, p, d));
    }
  }
  MaskOf<V> colliding = flight.hit;
  typename I::template Target<typename D::Width> target;
  V gaussian;
  Int pending(Phase::collide);
  if constexpr (multiplet) {
    colliding = colliding || equal<V>(lane.phase & Int((1 << phase_bits) - 1), Phase::collide);
    const Int index = select(flight.hit, flight.absorption.chosen, lane.phase >> phase_bits);
    target = interactor.target(x, index, width);
    pending = pending + (index << phase_bits);
    gaussian = flight.absorption.gaussian;
    MaskOf<V> other = colliding && !flight.hit;  // lanes whose transition was chosen in an earlier step
    if constexpr (D::substeps) other = other || MaskOf<V>(dataset.varies());
    if (any(other)) gaussian = select(other, exp(-target.x * target.x), gaussian);
  } else {
    colliding = colliding || equal<V>(lane.phase, Phase::collide);
    target = interactor.target(x, width);
    gaussian = flight.absorption.gaussian;
    if constexpr (D::substeps) {
      if (dataset.varies()) gaussian = exp(-x * x);
    }
  }
  V x_crit = critical_frequency(core_skip, dataset, interactor, target, lane.place, here, p, d);
  x_crit = select(abs(target.x) < x_crit, x_crit, zero);
  auto random = draws.random;
  const auto atom = interactor.prepare(schemes(problem.numerics), target, gaussian, draws.parallel, draws.more, random);
  const V perpendicular = sample_perpendicular_velocity(x_crit, draws.perpendicular);
  auto outcome = interactor.sample(target, atom, perpendicular, draws.angle, draws.more);
  auto scattered = colliding && atom.accepted, by_line = scattered;
  MaskOf<V> destroyed(false);
  if constexpr (D::dusty) {
    const Dust<Real>& data = problem.dust;
    if (data.ratio > Real(0)) {
      // One choice per collision, by share of opacity, in the call that arrives there. The second word of the fine draw
      // counts only where the first is zero, so it need not be a word of its own.
      const V dust_ratio = dataset.dust_ratio(here, data);
      const V share = divide(dust_ratio, flight.absorption.cross_section + dust_ratio);
      const auto dust = collide_with_dust(data, flight.hit, share, uniform_fine<V>(draws.dust_word, draws.second_word));
      if (any(dust.hit)) {
        outcome = scatter_off_dust(data, outcome, dust.hit, x, draws.angle_word);
        destroyed = dust.absorbed;
        by_line = by_line && !dust.hit;
        scattered = (scattered || dust.hit) && !destroyed;
      }
      if (core_skip.local || core_skip.x_crit > Real(0)) {
        const V absorbing = divide(dust_ratio * V(Real(1) - data.albedo), interactor.strength(target));
        const auto hidden = by_line && x_crit > zero && abs(target.x - atom.parallel) < V(Real(0.2));
        const auto caught =
            hidden && is_caught(absorbing, x_crit, target.a, uniform_fine<V>(draws.hidden_word, draws.second_word));
        destroyed = destroyed || caught;
        by_line = by_line && !caught;
        scattered = scattered && !caught;
      }
    }
  }
  return {target, atom, perpendicular, outcome, colliding, scattered, by_line, destroyed, pending, random};
}

/// Writes a collision to the lane: a new direction, frequency and optical depth, and its fate.
template <class V, class D, class I, class P>
THOR_FN void apply(Lane<V, typename D::Place>& lane, const Collision<V, D, I, P>& c, const Flight<V, D, I>& flight,
                   const Draws<V, P>& draws, const D& dataset) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const Vec3<V> n = turn(d, c.outcome.mu, c.outcome.sine, draws.azimuth.cos, draws.azimuth.sin);
  V frequency = dataset.width(flight.here).times(c.outcome.x);
  if constexpr (D::substeps) frequency = frequency + dataset.velocity_along(flight.here, p, n);

  lane.dx = select(c.scattered, n.x, d.x), lane.dy = select(c.scattered, n.y, d.y);
  lane.dz = select(c.scattered, n.z, d.z);
  lane.frequency = select(c.scattered, frequency, lane.frequency);
  lane.tau = select(c.scattered, draws.tau, lane.tau);
  lane.flown = select(c.scattered, V(Real(0)), lane.flown);
  lane.scatterings = lane.scatterings + select(c.by_line, Int(1), Int(0));
  lane.phase = select(c.colliding, select(c.scattered, Int(Phase::fly), c.pending), lane.phase);
  if constexpr (D::dusty) lane.phase = select(c.destroyed, Int(Phase::absorbed), lane.phase);
  const auto words = words_of(c.random);
  lane.s0 = select(c.colliding, words.s0, lane.s0), lane.s1 = select(c.colliding, words.s1, lane.s1);
  lane.s2 = select(c.colliding, words.s2, lane.s2), lane.s3 = select(c.colliding, words.s3, lane.s3);
}

}  // namespace THOR_ISA
}  // namespace thor
