#pragma once
#include <concepts>

#include "thor/datasets/width.hpp"
#include "thor/math/vec3.hpp"

/// Where the gas is. Inside a dataset lengths are in units of its size (outer radius, half-thickness) and velocities in
/// units of the thermal speed; a photon is in a cell (a region with its own gas) and leaves it by arriving at a face.
namespace thor {
inline namespace THOR_ISA {

/// Cells of the datasets without a grid; `outside` is the way out of all of them.
inline constexpr int outside = -1, cavity = 0, gas = 1;

/// Longer than any way through a dataset, small enough to square in single precision.
template <class Real>
inline constexpr Real no_limit = Real(1e10);

/// The straight way from a point to the next face of its cell.
///
///   reaches(s)  whether the face lies within the distance s
///   length()    the distance to the face
///   next()      the cell behind it
template <class S, class V>
concept SegmentOf = requires(const S segment, V s) {
  { segment.reaches(s) } -> std::convertible_to<MaskOf<V>>;
  { segment.length() } -> std::convertible_to<V>;
  { segment.next() } -> std::convertible_to<IntOf<V>>;
};

/// A segment whose length is known.
template <class V>
struct FaceSegment {
  V distance;
  IntOf<V> behind;
  THOR_FN MaskOf<V> reaches(V s) const { return s >= distance; }
  THOR_FN V length() const { return distance; }
  THOR_FN IntOf<V> next() const { return behind; }
};

/// Where a photon is in a dataset without a grid: the region, and how deep below its nearer face. Beside a face a
/// position resolves 6e-8 in single precision, and a mean free path may be 1e-10: the depth keeps full resolution
/// there.
template <class V>
struct Region {
  IntOf<V> cell;
  V depth;
};

/// The depth at birth: a source that was put on a face lies on it, however its position is rounded.
template <class V>
THOR_FN V depth_at_birth(V exact, V scale = V(1)) {
  return abs(exact) < scale * V(sizeof(RealOf<V>) == 4 ? RealOf<V>(5e-7) : RealOf<V>(1e-15)) ? V(0) : exact;
}

/// What the datasets without a grid have in common: one thermal width, and a region that is all there is to know.
template <class V>
struct Meshless {
  static constexpr bool grid = false, depth = true;
  using Here = Region<V>;
  template <class Lane>
  THOR_FN Here here(const Lane& lane) const {
    return {lane.cell, lane.depth};
  }
  THOR_FN SameWidth<V> width(const Here&) const { return {}; }
  template <class Dust>
  THOR_FN V dust_ratio(const Here&, const Dust& dust) const {
    return V(dust.ratio);
  }
  template <class Lane, class Segment>
  THOR_FN MaskOf<V> cross(Lane& lane, MaskOf<V> face, const Segment& segment) const {
    const IntOf<V> next = segment.next();
    lane.cell = select(face, next, lane.cell);
    return face && equal<V>(next, outside);
  }

 protected:
  template <class Lane>
  static THOR_FN Vec3<V> move(Lane& lane, V s) {
    const Vec3<V> q = along(Vec3<V>{lane.px, lane.py, lane.pz}, s, Vec3<V>{lane.dx, lane.dy, lane.dz});
    lane.px = q.x, lane.py = q.y, lane.pz = q.z;
    return q;
  }
};

/// `uniform`: gas at rest and of one density, so that a flight needs no sub-steps. `dusty`: may hold dust. `grid`: gas
/// in cells, each with its own temperature; a position is then an offset in a cell. `depth`: lanes carry their depth
/// below the nearer face.
///
///   here(lane)                 what is known of the gas at the lane's place, asked for once a step
///   advance(lane, s)           moves the lanes along their directions, within their cells
///   cross(lane, face, segment) puts lanes that arrive at a face into the cell behind it; true where that is outside
template <class D, class V>
concept DatasetFor = requires(const D dataset, typename D::Here here, Vec3<V> position, Vec3<V> direction, V x) {
  { D::uniform } -> std::convertible_to<bool>;
  { D::dusty } -> std::convertible_to<bool>;
  { D::grid } -> std::convertible_to<bool>;
  { D::depth } -> std::convertible_to<bool>;
  { dataset.varies() } -> std::convertible_to<bool>;  // density or velocity change along a flight
  { dataset.segment(here, position, direction) } -> SegmentOf<V>;
  { dataset.opacity(here, position) } -> std::convertible_to<V>;                    // n sigma_0 per unit length
  { dataset.velocity_along(here, position, direction) } -> std::convertible_to<V>;  // v . n
  { dataset.max_step(here, position, direction, x) } -> std::convertible_to<V>;     // the step limiter
  { dataset.core_scale(here, position, direction) } -> std::convertible_to<V>;      // the length l of core skipping
  {dataset.width(here)};                                                            // SameWidth or CellWidth
};

/// What a source asks, one photon at a time.
template <class D, class Real>
concept PlaceableIn = requires(const D dataset, Vec3<Real> position, Vec3<Real> direction, Real r) {
  { dataset.locate(position) } -> std::same_as<int>;
  { dataset.depth_at(int(), position) } -> std::same_as<Real>;                   // of a photon that starts there
  { dataset.distance_from_outside(position, direction) } -> std::same_as<Real>;  // negative: the ray misses
  { dataset.sample_position(r, direction) } -> std::same_as<Vec3<Real>>;         // uniform over the gas
};

}  // namespace THOR_ISA
}  // namespace thor
