#pragma once
#include <concepts>
#include <cstdint>

#include "thor/datasets/place.hpp"
#include "thor/datasets/width.hpp"
#include "thor/math/vec3.hpp"

/// Where the gas is. Inside a dataset lengths are in units of its size (outer radius, half-thickness) and velocities in
/// units of the thermal speed; a photon is in a cell (a region with its own gas) and leaves it by arriving at a face.
namespace thor {
inline namespace THOR_ISA {

/// Regions of the datasets without a grid; `outside` means that a photon has left.
inline constexpr int outside = -1, cavity = 0, gas = 1;

/// Longer than any path through a dataset, small enough to square in single precision.
template <class Real>
inline constexpr Real no_limit = Real(1e10);

/// The change of x over which the line profile changes by about its own amount or less, in thermal widths: 1 in the
/// core and on its flanks, where d ln H/dx is at most 7 or so, and in the wing, where it is -2/x, nearly |x|.
template <class V>
THOR_FN V profile_scale(V x) {
  return max(V(RealOf<V>(1)), abs(x) - V(RealOf<V>(3)));
}

/// The straight path from a point to the next face of its cell.
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

/// What becomes of lanes that arrive at a face: they leave the gas, or this part of it for another.
template <class V>
struct Passage {
  MaskOf<V> leaves, departs;
};

/// The first part of a segment, over which the gas counts as homogeneous.
template <class V>
struct Leg {
  V x;             ///< frequency in the frame of the gas at its middle, in local thermal units
  V limit;         ///< its length
  Vec3<V> middle;  ///< where the opacity is taken
  V slope;         ///< d ln n/ds there, if the gas varies
  V shear;         ///< dx/ds there
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
template <class R, class I>
struct Region {
  using Number = R;
  I cell;
  R depth;

  static THOR_FN void for_each_field(auto f, auto&... p) { f(p.cell...), f(p.depth...); }
};

/// The depth at birth: a source that was put on a face lies on it, however its position is rounded.
template <class V>
THOR_FN V depth_at_birth(V exact, V scale = V(1)) {
  return abs(exact) < scale * V(sizeof(RealOf<V>) == 4 ? RealOf<V>(5e-7) : RealOf<V>(1e-15)) ? V(0) : exact;
}

/// What the datasets without a grid have in common: one thermal width, no redshift along the way, and a region that is
/// all there is to know of a place. `View` is the dataset itself.
template <class View, class V>
struct Meshless {
  static constexpr bool redshifts = false, stops = false;
  static THOR_FN constexpr bool is_part() { return false; }
  using Real = RealOf<V>;
  using Place = Region<V, IntOf<V>>;
  using Here = Place;
  using Width = SameWidth<V>;
  template <class Lane>
  THOR_FN Here here(const Lane& lane) const {
    return lane.place;
  }
  template <class Lane>
  THOR_FN Here arrived(const Lane& lane, const Here&) const {
    return lane.place;
  }
  THOR_FN Width width(const Here&) const { return {}; }
  /// Where density or velocity vary, a sub-step with the opacity and velocity at its middle.
  template <class Segment, class I>
  THOR_FN Leg<V> leg(const Here& here, Vec3<V> p, Vec3<V> d, const Segment& segment, V frequency,
                     const I& interactor) const {
    const View& dataset = static_cast<const View&>(*this);
    Leg<V> leg{frequency, segment.length(), p, V(Real(0)), V(Real(0))};
    if (dataset.varies()) {
      const V detuning = interactor.detuning(frequency - dataset.velocity_along(here, p, d));
      leg.limit = min(dataset.max_step(here, p, d, detuning), leg.limit);
      leg.middle = along(p, V(Real(0.5)) * leg.limit, d);
      leg.x = frequency - dataset.velocity_along(here, leg.middle, d);
      leg.slope = dataset.density_slope(leg.middle, d);
      leg.shear = -dataset.velocity_gradient(leg.middle, d);
    }
    return leg;
  }
  template <class Dust>
  THOR_FN V dust_ratio(const Here&, const Dust& dust) const {
    return V(dust.ratio);
  }
  template <class Lane>
  THOR_FN MaskOf<V> leap(Lane& lane, V s) const {
    static_cast<const View&>(*this).advance(lane, s);
    return MaskOf<V>(false);
  }
  template <class Lane, class Segment>
  THOR_FN Passage<V> cross(Lane& lane, MaskOf<V> face, const Segment& segment) const {
    const IntOf<V> next = segment.next();
    lane.place.cell = select(face, next, lane.place.cell);
    return {face && equal<V>(next, outside), MaskOf<V>(false)};
  }

  /// The place of a lane `back` ago along its direction.
  template <class Lane>
  THOR_FN void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    position[0] = lane.px - back * lane.dx, position[1] = lane.py - back * lane.dy;
    position[2] = lane.pz - back * lane.dz;
  }
  /// The frequency of a lane as it left its last scattering.
  template <class Lane>
  THOR_FN double frequency_scattered(const Lane& lane) const {
    return lane.frequency;
  }

  /// Places a photon at its birth, one photon at a time; positions are from the origin.
  THOR_FN void place_point(auto& birth, const Real (&position)[3], const int (&)[3]) const {
    birth.position = {position[0], position[1], position[2]};
  }
  THOR_FN void place_in_medium(auto& birth, Real r, Vec3<Real> n) const {
    birth.position = static_cast<const View&>(*this).sample_position(r, n);
  }
  THOR_FN void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real>) const {
    const float* offset = table.offset + 3 * index;
    birth.position = {Real(offset[0]), Real(offset[1]), Real(offset[2])};
  }
  /// A photon on a surface, or of a beam that begins outside, stays where it was put: settle() does the rest.
  THOR_FN void place_on_surface(auto&) const {}
  THOR_FN void enter(auto&) const {}
  /// Finds region and depth; a photon from outside arrives exactly on the outer face, or misses.
  THOR_FN void settle(auto& birth, bool in_medium) const {
    const View& dataset = static_cast<const View&>(*this);
    birth.place = {in_medium ? gas : dataset.locate(birth.position), 0};
    if (birth.place.cell != outside) {
      birth.place.depth = dataset.depth_at(int(birth.place.cell), birth.position);
    } else {
      const Real distance = dataset.distance_from_outside(birth.position, birth.direction);
      birth.misses = distance < Real(0);
      birth.position = along(birth.position, max(distance, Real(0)), birth.direction);
      birth.place.cell = gas;
    }
  }
  THOR_FN bool has_gas(const auto& birth) const { return birth.place.cell == gas; }

 protected:
  template <class Lane>
  static THOR_FN Vec3<V> move(Lane& lane, V s) {
    const Vec3<V> q = along(Vec3<V>{lane.px, lane.py, lane.pz}, s, Vec3<V>{lane.dx, lane.dy, lane.dz});
    lane.px = q.x, lane.py = q.y, lane.pz = q.z;
    return q;
  }
};

/// Stand-ins for the types of other layers, for the concepts below.
template <class V, class P>
struct TestLane {
  V px, py, pz, dx, dy, dz, frequency, flown;
  P place;
};
template <class V, class P>
struct TestBirth {
  Vec3<V> position, direction;
  P place;
  bool misses;
};
template <class V>
struct TestInteractor {
  THOR_FN V detuning(V x) const { return x; }
  template <class Width>
  THOR_FN V detuning(V x, const Width&) const {
    return x;
  }
};
struct TestLimits {
  float shear, gradient;
};
struct TestDust {
  float ratio;
};
struct TestTable {
  const std::int32_t* place;
  const float* offset;
};

/// Everything that a step, a march and the birth and end of a photon ask of a dataset.
///
///   substeps        flights end at faces or sub-steps inside the gas; false: one region of homogeneous gas at rest
///   dusty           may hold dust
///   redshifts       the frequency changes along a flight (the Hubble flow)
///   stops           photons may be stopped before they leave
///   Place           what lanes carry of where they are, beside their coordinates (place.hpp)
///
///   here(lane)                 what is known of the gas at the lane's place, asked for once a step
///   arrived(lane, here)        the same after a flight within the cell
///   leg(here, ...)             the part of a segment over which the gas counts as homogeneous
///   advance(lane, s)           moves the lanes along their directions, within their cells
///   leap(lane, s)              the same within the sphere of room(); true where the lane departs for another part
///   cross(lane, face, segment) puts lanes that arrive at a face into the cell behind it
template <class D, class V>
concept DatasetFor = requires(const D dataset, typename D::Here here, typename D::Width width,
                              typename D::Segment segment, Vec3<V> position, Vec3<V> direction, V x) {
  { D::substeps } -> std::convertible_to<bool>;
  { D::dusty } -> std::convertible_to<bool>;
  { D::redshifts } -> std::convertible_to<bool>;
  { D::stops } -> std::convertible_to<bool>;
  requires std::is_same_v<typename D::Place::Number, V>;
  { dataset.is_part() } -> std::convertible_to<bool>;  // of a larger one: lanes may depart
  { dataset.varies() } -> std::convertible_to<bool>;   // density or velocity change along a flight
  { dataset.segment(here, position, direction) } -> std::same_as<typename D::Segment>;
  requires SegmentOf<typename D::Segment, V>;
  { dataset.opacity(here, position) } -> std::convertible_to<V>;                    // n sigma_0 per unit length
  { dataset.velocity_along(here, position, direction) } -> std::convertible_to<V>;  // v . n
  { dataset.max_step(here, position, direction, x) } -> std::convertible_to<V>;     // the step limiter
  { dataset.core_scale(here, position, direction) } -> std::convertible_to<V>;      // the length l of core skipping
  { dataset.density_slope(position, direction) } -> std::convertible_to<V>;         // d ln n/ds
  { dataset.velocity_slope(here, position) } -> std::convertible_to<V>;             // mean dv/ds of all directions
  { dataset.width(here) } -> std::same_as<typename D::Width>;                       // SameWidth or CellWidth
  requires requires(TestLane<V, typename D::Place> lane, TestLane<V, typename D::Place> & moved, TestInteractor<V> line,
                    MaskOf<V> face, TestDust dust) {
    { dataset.here(lane) } -> std::same_as<typename D::Here>;
    { dataset.arrived(lane, here) } -> std::same_as<typename D::Here>;
    { dataset.leg(here, position, direction, segment, x, line) } -> std::same_as<Leg<V>>;
    { dataset.cross(moved, face, segment) } -> std::same_as<Passage<V>>;
    { dataset.dust_ratio(here, dust) } -> std::convertible_to<V>;
    { dataset.room(lane, here, TestLimits()) } -> std::convertible_to<V>;  // largest homogeneous sphere
    dataset.advance(moved, x);
    { dataset.leap(moved, x) } -> std::convertible_to<MaskOf<V>>;
  };
  requires !D::redshifts || requires {
    { dataset.redshifted(x, x) } -> std::convertible_to<V>;
  };
  requires !D::stops || requires(TestLane<V, typename D::Place> lane) {
    { dataset.may_stop() } -> std::convertible_to<bool>;
    { dataset.stopped(lane) } -> std::convertible_to<MaskOf<V>>;
  };
};

/// What the birth and the end of a photon ask, one photon at a time.
template <class D, class Real>
concept PlaceableIn = requires(const D dataset, TestLane<Real, typename D::Place> lane,
                               TestBirth<Real, typename D::Place>& birth, TestTable table, const Real (&point)[3],
                               const int (&cell)[3], double (&position)[3], Vec3<Real> n, Real r) {
  dataset.coordinates(lane, 0., position);
  { dataset.frequency_scattered(lane) } -> std::convertible_to<double>;
  dataset.place_point(birth, point, cell);
  dataset.place_in_medium(birth, r, n);
  dataset.place_source(birth, table, std::uint64_t(), n);
  dataset.place_on_surface(birth);
  dataset.enter(birth);
  dataset.settle(birth, bool());
  { dataset.has_gas(birth) } -> std::convertible_to<bool>;
};

}  // namespace THOR_ISA
}  // namespace thor
