#pragma once
#include <concepts>
#include <cstdint>

#include "thor/datasets/mesh.hpp"

/// Where the gas is. Inside a dataset lengths are in units of its size (outer radius, half-thickness, cell) and
/// velocities in units of the thermal speed.
namespace thor {

/// The type of a dataset that is known to be no part of a larger one: a kernel for it does nothing at borders.
template <class D>
struct WholeOf {
  using type = D;
};

inline namespace THOR_ISA {

/// The change of x over which the line profile changes by about its own amount or less, in thermal widths: 1 in the
/// core and on its flanks, where d ln H/dx is at most 7 or so, and in the wing, where it is -2/x, nearly |x|.
template <class V>
THOR_FN V profile_scale(V x) {
  return max(V(RealOf<V>(1)), abs(x) - V(RealOf<V>(3)));
}

/// The first part of a segment, over which the gas counts as homogeneous.
template <class V>
struct Leg {
  V x;             ///< frequency in the frame of the gas at its middle, in local thermal units
  V limit;         ///< its length
  Vec3<V> middle;  ///< where the opacity is taken
  V slope;         ///< d ln n/ds there, if the gas varies
  V shear;         ///< dx/ds there
};

/// Everything that a step and a march ask of a dataset; L: a lane, P: a problem.
///
///   substeps        flights end at faces or sub-steps inside the gas; false: one region of homogeneous gas at rest
///   dusty           may hold dust
///   redshifts       the frequency changes along a flight (the Hubble flow)
///   stops           photons may be stopped before they leave
///
///   here(lane)                 what is known of the gas at the lane's place, asked for once a step
///   arrived(lane, here)        the same after a flight within the cell
///   leg(here, ...)             the part of a segment over which the gas counts as homogeneous
///   segment, advance, leap, cross: as in MeshFor
template <class D, class V, class L, class P>
concept DatasetFor = requires(const D dataset, typename D::Here here, typename D::Width width,
                              typename D::Segment segment, const P& problem, L lane, L& moved, MaskOf<V> face,
                              Vec3<V> position, Vec3<V> direction, V x) {
  { D::substeps } -> std::convertible_to<bool>;
  { D::dusty } -> std::convertible_to<bool>;
  { D::redshifts } -> std::convertible_to<bool>;
  { D::stops } -> std::convertible_to<bool>;
  requires std::is_same_v<typename D::Place::Number, V>;
  { dataset.is_part() } -> std::convertible_to<bool>;  // of a larger one: lanes may depart
  { dataset.varies() } -> std::convertible_to<bool>;   // density or velocity change along a flight
  { dataset.here(lane) } -> std::same_as<typename D::Here>;
  { dataset.arrived(lane, here) } -> std::same_as<typename D::Here>;
  { dataset.width(here) } -> std::same_as<typename D::Width>;  // SameWidth or CellWidth
  { dataset.segment(lane.place, position, direction) } -> std::same_as<typename D::Segment>;
  requires SegmentOf<typename D::Segment, V>;
  { dataset.leg(here, position, direction, segment, x, view<V>(problem.line)) } -> std::same_as<Leg<V>>;
  { dataset.opacity(here, position) } -> std::convertible_to<V>;                    // n sigma_0 per unit length
  { dataset.velocity_along(here, position, direction) } -> std::convertible_to<V>;  // v . n
  { dataset.dust_ratio(here, problem.dust) } -> std::convertible_to<V>;
  { dataset.max_step(here, position, direction, x) } -> std::convertible_to<V>;             // the step limiter
  { dataset.core_scale(lane.place, here, position, direction) } -> std::convertible_to<V>;  // l of core skipping
  { dataset.room(lane, here, problem.jumps) } -> std::convertible_to<V>;     // largest homogeneous sphere
  { dataset.density_slope(position, direction) } -> std::convertible_to<V>;  // d ln n/ds
  { dataset.velocity_slope(here, position) } -> std::convertible_to<V>;      // mean dv/ds of all directions
  dataset.advance(moved, x, segment);
  { dataset.leap(moved, x) } -> std::convertible_to<MaskOf<V>>;
  { dataset.cross(moved, face, segment) } -> std::same_as<Passage<V>>;
  requires !D::redshifts || requires {
    { dataset.redshifted(x, x) } -> std::convertible_to<V>;
  };
  requires !D::stops || requires {
    { dataset.may_stop() } -> std::convertible_to<bool>;
    { dataset.stopped(lane) } -> std::convertible_to<MaskOf<V>>;
  };
};

/// What the birth and the end of a photon ask, one photon at a time; B: a birth, T: a table of sources.
template <class D, class Real, class L, class B, class T>
concept PlaceableIn = requires(const D dataset, L lane, B& birth, T table, const Real (&point)[3], const int (&cell)[3],
                               double (&position)[3], Vec3<Real> n, Real r) {
  dataset.coordinates(lane, 0., position);
  { dataset.frequency_scattered(lane) } -> std::convertible_to<double>;
  dataset.place_point(birth, point, cell);
  dataset.place_in_medium(birth, r, n);
  dataset.place_source(birth, table, std::uint64_t(), n);
  dataset.place_on_surface(birth);
  dataset.enter(birth);
  dataset.settle(birth, bool());
  { dataset.has_gas(birth) } -> std::convertible_to<bool>;
  dataset.gas_at_birth(birth);
};

}  // namespace THOR_ISA
}  // namespace thor
