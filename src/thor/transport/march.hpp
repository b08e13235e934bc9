#pragma once
#include "thor/generators/source.hpp"
#include "thor/transport/flight.hpp"
#include "thor/transport/ray.hpp"

/// A straight ray through the gas without collisions: the common ground of rays towards an observer, projections and
/// absorption. It crosses the same segments and sub-steps as a photon in flight, with the same opacity. The sum is
/// lane.tau.
namespace thor {

inline namespace THOR_ISA {

/// The lane of a ray at its start, with a sum of zero. One that never meets the medium has escaped.
template <class Real, class D>
THOR_FN Lane<Real> start_ray(const D& data, const Ray& ray) {
  const auto dataset = view<Real>(data);
  Birth<Real> birth;
  birth.position = {Real(ray.position[0]), Real(ray.position[1]), Real(ray.position[2])};
  birth.direction = {Real(ray.direction[0]), Real(ray.direction[1]), Real(ray.direction[2])};
  birth.cell = gas, birth.cell_y = birth.cell_z = 0;
  birth.depth = 0, birth.misses = false;
  dataset.place_on_surface(birth);
  dataset.settle(birth, false);
  Lane<Real> lane;
  lane.px = birth.position.x, lane.py = birth.position.y, lane.pz = birth.position.z;
  lane.dx = birth.direction.x, lane.dy = birth.direction.y, lane.dz = birth.direction.z;
  lane.frequency = Real(ray.frequency);
  lane.tau = lane.flown = lane.column = lane.column_low = lane.tabulated = 0;
  lane.phase = birth.misses ? Phase::escaped : Phase::fly;
  lane.cell = birth.cell, lane.cell_y = birth.cell_y, lane.cell_z = birth.cell_z;
  lane.depth = birth.depth;
  lane.scatterings = lane.steps = 0;
  lane.s0 = lane.s1 = lane.s2 = lane.s3 = 1;  // never drawn from
  return lane;
}

/// A ray of more segments is lost: one across a slab that varies may never end.
inline constexpr int most_segments = 1 << 22;

/// One segment or sub-step of every ray; true where a ray has ended. One whose sum exceeds `cut` is absorbed. In a
/// dataset that stops photons, `tabulated` is the path at which a ray is stopped; 0: nowhere.
template <class V, class P>
THOR_FN MaskOf<V> march(Lane<V>& lane, const P& problem, MarchSum what, RealOf<V> cut) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  using D = std::remove_const_t<decltype(dataset)>;
  const auto flying = equal<V>(lane.phase, Phase::fly);
  auto random = schemes(problem.numerics).template resume<V>(lane.s0, lane.s1, lane.s2, lane.s3);
  const auto move = [&](const auto&, const auto& width, const auto& segment, const Leg<V>& leg, const auto&, V density,
                        V kappa) THOR_INLINE_LAMBDA {
    V s = select(flying, leg.limit, V(Real(0)));
    [[maybe_unused]] MaskOf<V> last(false);
    if constexpr (D::stops) {
      const V left = max(lane.tabulated - lane.flown, V(Real(0)));
      last = flying && lane.tabulated > V(Real(0)) && leg.limit >= left;
      s = select(last, left, s);
    }
    const V more = s * (what == MarchSum::optical_depth ? kappa : width.times(density));
    // With compensation (Kahan 1965), as a ray may have thousands of segments; `column` and `column_low`
    // serve for it.
    add_column(lane, more);
    lane.tau = lane.column;
    dataset.advance(lane, s);
    lane.flown = lane.flown + s;
    auto out = flying;
    if constexpr (D::substeps) {
      const auto face = flying && !last && segment.reaches(leg.limit);
      out = dataset.cross(lane, face, segment);
    }
    lane.phase = select(out, Int(Phase::escaped), lane.phase);
    if constexpr (D::redshifts) {
      if (dataset.varies()) lane.frequency = dataset.redshifted(lane.frequency, s);
    }
    if constexpr (D::stops) {
      if (dataset.may_stop()) {
        const auto beyond = equal<V>(lane.phase, Phase::fly) && dataset.stopped(lane);
        lane.phase = select(beyond, Int(Phase::stopped), lane.phase);
      }
      lane.phase = select(last, Int(Phase::stopped), lane.phase);
    }
  };
  look_ahead(lane, random, dataset, view<V>(problem.line), problem, move);
  lane.phase = select(equal<V>(lane.phase, Phase::fly) && lane.tau > V(cut), Int(Phase::absorbed), lane.phase);
  lane.steps = lane.steps + Int(1);
  const auto endless = equal<V>(lane.phase, Phase::fly) && at_least<V>(lane.steps, most_segments);
  lane.phase = select(endless, Int(Phase::lost), lane.phase);
  return flying && !equal<V>(lane.phase, Phase::fly);
}

}  // namespace THOR_ISA
}  // namespace thor
