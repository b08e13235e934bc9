#pragma once
#include "thor/transport/flight.hpp"

/// A straight ray through the gas without collisions, towards an observer. It crosses the same segments and sub-steps
/// as a photon in flight, with the same opacity. The sum of optical depth is lane.tau.
namespace thor {

inline namespace THOR_ISA {

/// A ray of more segments is lost: one across a slab that varies may never end.
inline constexpr int most_segments = 1 << 22;

/// One segment or sub-step of every ray; true where a ray has ended. One whose sum exceeds `cut` is absorbed. In a
/// dataset that stops photons, `tabulated` is the path at which a ray is stopped; 0: nowhere.
template <class V, class Q, class P>
THOR_FN MaskOf<V> march(Lane<V, Q>& lane, const P& problem, RealOf<V> cut) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  using D = std::remove_const_t<decltype(dataset)>;
  const auto flying = equal<V>(lane.phase, Phase::fly);
  auto random = schemes(problem.numerics).template resume<V>(lane.s0, lane.s1, lane.s2, lane.s3);
  const auto move = [&](const auto&, const auto&, const auto& segment, const Leg<V>& leg, const auto&, V /* density */,
                        V kappa) THOR_INLINE_LAMBDA {
    V s = select(flying, leg.limit, V(Real(0)));
    [[maybe_unused]] MaskOf<V> last(false);
    if constexpr (D::stops) {
      const V left = max(lane.tabulated - lane.flown, V(Real(0)));
      last = flying && lane.tabulated > V(Real(0)) && leg.limit >= left;
      s = select(last, left, s);
    }
    // With compensation (Kahan 1965), as a ray may have thousands of segments; `column` and
    // `column_low` serve for it.
    // A ray that has ended keeps its column while its neighbours go on: what compensation is left must not be added,
    // nor the opacity at its place, which may be no number.
    lane.column_low = select(flying, lane.column_low, V(Real(0)));
    add_column(lane, select(flying, s * kappa, V(Real(0))));
    lane.tau = lane.column;
    dataset.advance(lane, s, segment);
    lane.flown = lane.flown + s;
    Passage<V> passage{flying, MaskOf<V>(false)};
    if constexpr (D::substeps) {
      const auto face = flying && !last && segment.reaches(leg.limit);
      passage = dataset.cross(lane, face, segment);
    }
    lane.phase = select(passage.leaves, Int(Phase::escaped), lane.phase);
    if (dataset.is_part()) [[unlikely]]
      lane.phase = select(passage.departs, Int(Phase::departs), lane.phase);
    if constexpr (D::redshifts) {
      if (dataset.varies()) lane.frequency = dataset.redshifted(lane.frequency, s);
    }
    if constexpr (D::stops) {
      if (dataset.may_stop()) {
        const auto beyond = goes_on(lane, dataset) && dataset.stopped(lane);
        lane.phase = select(beyond, Int(Phase::stopped), lane.phase);
      }
      lane.phase = select(last, Int(Phase::stopped), lane.phase);
    }
  };
  look_ahead(lane, random, dataset, view<V>(problem.line), problem, move);
  lane.phase = select(goes_on(lane, dataset) && lane.tau > V(cut), Int(Phase::absorbed), lane.phase);
  lane.steps = lane.steps + Int(1);
  const auto endless = equal<V>(lane.phase, Phase::fly) && at_least<V>(lane.steps, most_segments);
  lane.phase = select(endless, Int(Phase::lost), lane.phase);
  return flying && !equal<V>(lane.phase, Phase::fly);
}

}  // namespace THOR_ISA
}  // namespace thor
