#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/transport/draws.hpp"

/// FLY: the part of a step that moves a photon along its ray.
namespace thor {
inline namespace THOR_ISA {

/// The gas between a lane and the end of its segment or sub-step, the common ground of fly() and march():
/// use(here, width, segment, leg, absorption, density, kappa) with n sigma_0 and the opacity, dust included, per unit
/// length. A struct of all that would cost: gcc leaves some of it in memory.
template <class V, class D, class I, class P, class Use>
THOR_FN auto look_ahead(const Lane<V, typename D::Place>& lane, auto& random, const D& dataset, const I& interactor,
                        const P& problem, const Use& use) {
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  auto here = dataset.here(lane);
  const auto width = dataset.width(here);
  const auto segment = dataset.segment(lane.place, p, d);
  Leg<V> leg = dataset.leg(here, p, d, segment, lane.frequency, interactor);
  if constexpr (D::stops) dataset.limit_dust(here, leg, lane.flown);
  const auto absorption = interactor.absorb(schemes(problem.numerics), leg.x, random, width);
  V cross_section = absorption.cross_section;
  if constexpr (D::dusty) cross_section = cross_section + dataset.dust_ratio(here, problem.dust);
  const V density = dataset.opacity(here, leg.middle);
  return use(here, width, segment, leg, absorption, density, density * cross_section);
}

/// Where a flight leaves the lane.
template <class V, class D, class I>
struct Flight {
  MaskOf<V> hit;  ///< at its collision point, in this call
  V x;            ///< frequency in the frame of the gas where the opacity was taken
  typename I::Absorption absorption;
  typename D::Here here;  ///< the gas of a lane that collides, or has been colliding
};

/// The opacity is that at mid-step. A collision before the end of a sub-step of length l lies behind gas whose mean
/// opacity is 1 + slope (s - l)/2 times that; without this photons drift towards lower opacity, and the more so the
/// higher it is. `line`: d ln sigma/ds, which counts by its `share` of the opacity.
template <class V>
THOR_FN void follow_slopes(const Leg<V>& leg, V line, V share, V s, V density, V& way, V& depth, V& cross_section) {
  using Real = RealOf<V>;
  const V zero(Real(0)), one(Real(1)), half(Real(0.5));
  const auto bounded = [&](V change) THOR_INLINE_LAMBDA { return max(min(change, one), -one); };
  const V change = fma(line, share, leg.slope) * max(leg.limit - s, zero);
  way = min(s * fma(half, bounded(change), one), max(leg.limit, s));
  depth = way * density * fma(half, bounded(leg.slope * (way - leg.limit)), one);
  cross_section = cross_section * fma(half, bounded(line * fma(V(Real(2)), way, -leg.limit)), one);
}

/// Spends optical depth up to the collision, the end of a sub-step, a face, or the boundary.
template <class V, class D, class I, class P>
THOR_FN Flight<V, D, I> fly(Lane<V, typename D::Place>& lane, Draws<V, P>& draws, const D& dataset, const I& interactor,
                            const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const V zero(Real(0));
  const auto flying = equal<V>(lane.phase, Phase::fly);
  const auto move = [&](const auto& here, const auto& width, const auto& segment, const Leg<V>& leg,
                        const auto& absorption, V density, V kappa) THOR_INLINE_LAMBDA {
    const V to_collision = divide(lane.tau, max(kappa, V(Real(1e-30))));

    V s = to_collision;
    MaskOf<V> hit(false);
    if constexpr (!D::substeps) {
      // The final flight to the boundary is left to end_photon().
      const auto out = flying && segment.reaches(to_collision);
      hit = flying && !out;
      lane.phase = select(out, Int(Phase::escaped), lane.phase);
      s = select(hit, s, zero);
    } else {
      const auto ends = to_collision >= leg.limit;
      hit = flying && !ends;
      s = select(ends, leg.limit, to_collision);
      // What is left is never zero: the next cell may be empty, and there 0/1e-30 would be a
      // collision.
      const V left = max(fma(-kappa, leg.limit, lane.tau), V(least_tau<Real>));
      lane.tau = select(flying && ends, left, lane.tau);
      s = select(flying, s, zero);
    }
    V way = s, depth = s * density;
    auto absorbed = absorption;
    if constexpr (D::substeps) {
      if (dataset.varies()) {
        V share(Real(1));  // of the line in the opacity
        if constexpr (D::dusty) {
          if (problem.dust.ratio > Real(0)) {
            share = divide(absorption.cross_section, absorption.cross_section + dataset.dust_ratio(here, problem.dust));
          }
        }
        follow_slopes(leg, leg.shear * interactor.slope(leg.x, absorption, width), share, s, density, way, depth,
                      absorbed.cross_section);
      }
    }
    dataset.advance(lane, way, segment);
    lane.flown = lane.flown + way;
    const V column = lane.column, column_low = lane.column_low;
    add_column(lane, width.times(depth));
    // A lane that waits keeps its sum to the last bit, however long it does.
    lane.column = select(flying, lane.column, column);
    lane.column_low = select(flying, lane.column_low, column_low);
    if constexpr (D::substeps) {
      const auto face = flying && !hit && segment.reaches(leg.limit);
      const Passage<V> passage = dataset.cross(lane, face, segment);
      lane.phase = select(passage.leaves, Int(Phase::escaped), lane.phase);
      if (dataset.is_part()) [[unlikely]]
        lane.phase = select(passage.departs, Int(Phase::departs), lane.phase);
    }
    if constexpr (D::redshifts) {
      if (dataset.varies()) lane.frequency = dataset.redshifted(lane.frequency, way);
    }
    if constexpr (D::stops) {
      if (dataset.may_stop()) {
        const auto beyond = goes_on(lane, dataset) && !hit && dataset.stopped(lane);
        lane.phase = select(beyond, Int(Phase::stopped), lane.phase);
      }
    }
    return Flight<V, D, I>{hit, leg.x, absorbed, dataset.arrived(lane, here)};
  };
  return look_ahead(lane, draws.random, dataset, interactor, problem, move);
}

}  // namespace THOR_ISA
}  // namespace thor
