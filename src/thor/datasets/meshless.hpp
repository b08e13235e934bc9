#pragma once
#include <cstdint>

#include "thor/datasets/dataset.hpp"
#include "thor/datasets/mesh.hpp"
#include "thor/datasets/width.hpp"

namespace thor {
inline namespace THOR_ISA {

/// Regions of the datasets without a grid; `outside` means that a photon has left.
inline constexpr int outside = -1, cavity = 0, gas = 1;

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
  template <class Birth>
  THOR_FN Here gas_at_birth(const Birth& birth) const {
    return birth.place;
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
    static_cast<const View&>(*this).advance(lane, s, NoSegment());
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
}  // namespace THOR_ISA
}  // namespace thor
