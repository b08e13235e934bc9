#pragma once
#include <cstdint>

#include "thor/datasets/place.hpp"
#include "thor/math/vec3.hpp"
#include "thor/random/xoshiro.hpp"
#include "thor/transport/fates.hpp"

namespace thor {

/// The state of photons in flight, written once for a pack (R = simd<Real>) and for the arrays it lives in (R = Real*).
template <class R, class I, class W, class P>
struct LaneFields {
  R px, py, pz;  ///< position, units of the dataset's size; in a grid: from the nearer faces of the cell, in cells
  P place;       ///< what else the dataset keeps of where it is
  R dx, dy, dz;  ///< direction
  R frequency;   ///< c ln(nu/nu_0) in the frame of the box, units of the thermal speed, positive to the blue
  R tau;         ///< optical depth left to the next collision
  R flown;       ///< distance since the last scattering
  R column, column_low;  ///< n sigma_0 summed along the path, with compensation
  I phase, scatterings, steps;
  R tabulated;  ///< scatterings that jumps stand for; `scatterings` has those that were followed
  I jumps;
  W s0, s1, s2, s3;  ///< random state
};

/// Arrays of one entry a lane.
template <class Real, class Int = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>>
using LaneArrays = LaneFields<Real*, Int*, std::uint32_t*, AnyPlace<Real*, Int*>>;

inline namespace THOR_ISA {

/// The least optical depth that a lane in flight has left: beyond any limit where there is no gas, nothing where there
/// is.
template <class Real>
inline constexpr Real least_tau = Real(1e-15);

/// Calls f on each pair of corresponding fields: the one list of them.
template <class A, class B, class F>
THOR_FN void for_each_field(A&& a, B&& b, F f) {
  f(a.px, b.px), f(a.py, b.py), f(a.pz, b.pz);
  f(a.dx, b.dx), f(a.dy, b.dy), f(a.dz, b.dz);
  f(a.frequency, b.frequency), f(a.tau, b.tau), f(a.flown, b.flown);
  f(a.column, b.column), f(a.column_low, b.column_low);
  f(a.phase, b.phase), f(a.scatterings, b.scatterings), f(a.steps, b.steps);
  f(a.tabulated, b.tabulated), f(a.jumps, b.jumps);
  f(a.s0, b.s0), f(a.s1, b.s1), f(a.s2, b.s2), f(a.s3, b.s3);
  for_each_place_field(a.place, b.place, f);
}

/// Bytes that the fields of `count` lanes take, and the fields laid out in them; with a count that is a multiple of 16
/// every field is aligned to 64 bytes.
template <class Real>
THOR_FN std::size_t lane_bytes(std::size_t count) {
  LaneArrays<Real> arrays{};
  std::size_t bytes = 0;
  for_each_field(arrays, arrays, [&](auto& field, auto&) { bytes += count * sizeof(*field); });
  return bytes;
}
template <class Real>
THOR_FN LaneArrays<Real> lane_arrays(void* memory, std::size_t count) {
  LaneArrays<Real> arrays;
  char* place = static_cast<char*>(memory);
  for_each_field(arrays, arrays, [&](auto& field, auto&) {
    field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(place);
    place += count * sizeof(*field);
  });
  return arrays;
}

/// Lanes of a pack, with the place of a dataset, or of any.
template <class V, class P = AnyPlace<V, IntOf<V>>>
using Lane = LaneFields<V, IntOf<V>, WordOf<V>, P>;

/// The same lane with another type of place: of any dataset, or of one.
template <class P, class V, class Q>
THOR_FN Lane<V, P> lane_as(const Lane<V, Q>& lane) {
  Lane<V, P> out;
  out.place = P{};
  for_each_field(out, lane, [](auto& to, const auto& from) THOR_INLINE_LAMBDA { to = from; });
  return out;
}

/// In flight: fly, or collide with any transition.
template <class V, class P>
THOR_FN MaskOf<V> in_flight(const Lane<V, P>& lane) {
  return equal<V>(lane.phase & IntOf<V>(6), 0);
}

/// Flies on, here or in another part.
template <class V, class D>
THOR_FN MaskOf<V> goes_on(const Lane<V, typename D::Place>& lane, const D& dataset) {
  auto flies = equal<V>(lane.phase, Phase::fly);
  if (dataset.is_part()) [[unlikely]]
    flies = flies || equal<V>(lane.phase, Phase::departs);
  return flies;
}

/// Adds to the lane's column, with compensation (Kahan 1965).
template <class V, class P>
THOR_FN void add_column(Lane<V, P>& lane, V more) {
  const V term = more - lane.column_low;
  const V sum = lane.column + term;
  lane.column_low = (sum - lane.column) - term;
  lane.column = sum;
}

template <class V, class P = AnyPlace<V, IntOf<V>>>
THOR_FN Lane<V, P> load_lane(const LaneArrays<RealOf<V>>& arrays, std::int64_t first) {
  Lane<V, P> lane;
  for_each_field(lane, arrays, [first](auto& value, auto* array) THOR_INLINE_LAMBDA {
    value = load<std::remove_reference_t<decltype(value)>>(array + first);
  });
  return lane;
}

template <class V, class P>
THOR_FN void store_lane(const Lane<V, P>& lane, const LaneArrays<RealOf<V>>& arrays, std::int64_t first) {
  for_each_field(lane, arrays,
                 [first](const auto& value, auto* array) THOR_INLINE_LAMBDA { store(value, array + first); });
}

}  // namespace THOR_ISA
}  // namespace thor
