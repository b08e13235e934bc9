#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/transport/draws.hpp"

/// FLY: the part of a step that moves a photon along its ray.
namespace thor {
inline namespace THOR_ISA {

/// The gas between a lane and the end of its segment or sub-step, the common ground of fly() and march().
template <class V, class D, class I>
struct Ahead {
  typename D::Here here;
  typename D::Width width;
  typename D::Segment segment;
  V x;      ///< frequency in the frame of the gas, where the opacity is taken
  V limit;  ///< length of the sub-step
  typename I::Absorption absorption;
  V density;  ///< n sigma_0 per unit length
  V kappa;    ///< opacity per unit length, dust included
};

template <class V, class D, class I, class P>
THOR_FN Ahead<V, D, I> look_ahead(const Lane<V>& lane, auto& random, const D& dataset, const I& interactor,
                                  const P& problem) {
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const auto here = dataset.here(lane);
  const auto width = dataset.width(here);
  const auto segment = dataset.segment(here, p, d);
  const Leg<V> leg = dataset.leg(here, p, d, segment, lane.frequency, interactor);
  const auto absorption = interactor.absorb(schemes(problem.numerics), leg.x, random, width);
  V cross_section = absorption.cross_section;
  if constexpr (D::dusty) cross_section = cross_section + dataset.dust_ratio(here, problem.dust);
  const V density = dataset.opacity(here, leg.middle);
  return {here, width, segment, leg.x, leg.limit, absorption, density, density * cross_section};
}

/// Where a flight leaves the lane.
template <class V, class D, class I>
struct Flight {
  MaskOf<V> hit;  ///< at its collision point, in this call
  V x;            ///< frequency in the frame of the gas where the opacity was taken
  typename I::Absorption absorption;
  typename D::Here here;  ///< the gas of a lane that collides, or has been colliding
};

/// Spends optical depth up to the collision, the end of a sub-step, a face, or the boundary.
template <class V, class D, class I, class P>
THOR_FN Flight<V, D, I> fly(Lane<V>& lane, Draws<V, P>& draws, const D& dataset, const I& interactor,
                            const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const V zero(Real(0));
  const auto flying = equal<V>(lane.phase, Phase::fly);
  const auto ahead = look_ahead(lane, draws.random, dataset, interactor, problem);
  const V to_collision = divide(lane.tau, max(ahead.kappa, V(Real(1e-30))));

  V s = to_collision;
  MaskOf<V> hit(false);
  if constexpr (!D::substeps) {
    // The final flight to the boundary is left to end_photon().
    const auto out = flying && ahead.segment.reaches(to_collision);
    hit = flying && !out;
    lane.phase = select(out, Int(Phase::escaped), lane.phase);
    s = select(hit, s, zero);
  } else {
    const auto ends = to_collision >= ahead.limit;
    hit = flying && !ends;
    s = select(ends, ahead.limit, to_collision);
    // What is left is never zero: the next cell may be empty, and there 0/1e-30 would be a collision.
    const V left = max(fma(-ahead.kappa, ahead.limit, lane.tau), V(least_tau<Real>));
    lane.tau = select(flying && ends, left, lane.tau);
    s = select(flying, s, zero);
  }
  dataset.advance(lane, s);
  lane.flown = lane.flown + s;
  add_column(lane, ahead.width.times(s * ahead.density));
  if constexpr (D::substeps) {
    const auto face = flying && !hit && ahead.segment.reaches(ahead.limit);
    lane.phase = select(dataset.cross(lane, face, ahead.segment), Int(Phase::escaped), lane.phase);
  }
  if constexpr (D::redshifts) {
    if (dataset.varies()) lane.frequency = dataset.redshifted(lane.frequency, s);
  }
  if constexpr (D::stops) {
    if (dataset.may_stop()) {
      const auto beyond = equal<V>(lane.phase, Phase::fly) && !hit && dataset.stopped(lane);
      lane.phase = select(beyond, Int(Phase::stopped), lane.phase);
    }
  }
  return {hit, ahead.x, ahead.absorption, dataset.arrived(lane, ahead.here)};
}

}  // namespace THOR_ISA
}  // namespace thor
