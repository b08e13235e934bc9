#pragma once
#include <concepts>

#include "thor/datasets/place.hpp"
#include "thor/math/gather.hpp"
#include "thor/math/vec3.hpp"

/// The shape of cells: what a step asks of where a photon can go, whatever the gas. Lengths are in units of the dataset
/// (outer radius, half-thickness, cell); a photon is in a cell and leaves it by arriving at a face.
namespace thor {
inline namespace THOR_ISA {

/// Longer than any path through a dataset, small enough to square in single precision.
template <class Real>
inline constexpr Real no_limit = Real(1e10);

/// The straight path from a point to the next face of its cell.
///
///   reaches(s)  whether the face lies within the distance s
///   length()    the distance to the face
template <class S, class V>
concept SegmentOf = requires(const S segment, V s) {
  { segment.reaches(s) } -> std::convertible_to<MaskOf<V>>;
  { segment.length() } -> std::convertible_to<V>;
};

/// In place of a segment, for a mesh that needs none to move.
struct NoSegment {};

/// What becomes of lanes that arrive at a face: they leave the gas, or this part of it for another.
template <class V>
struct Passage {
  MaskOf<V> leaves, departs;
};

/// A mesh, beside the dataset that it is part of (cell_medium.hpp); L: a lane.
///
///   Place                      what lanes carry of where they are, beside their coordinates (place.hpp)
///   record(place, stride)      where the numbers of each lane's cell begin in memory
///   segment(place, p, d)       the way to the next face. It may visit the faces of a cell, or the levels of a tree: a
///                              loop of a bound that its header states
///   nearest_face(place, p)     the distance to the nearest face of the cell
///   room_in_equal_cells(lane)  the same for the cells around it that hold the same gas, where they are known
///   advance(lane, s, segment)  moves the lanes along their directions, within their cells; one that does not move
///                              keeps its place to the last bit
///   leap(lane, s)              the same within the sphere of room(); true where the lane departs for another part
///   cross(lane, face, segment) puts lanes that arrive at a face into the cell behind it
///   coordinates(lane, back, position)  the place of one lane `back` ago along its direction, from the origin
template <class M, class V, class L>
concept MeshFor = requires(const M mesh, L lane, L& moved, MaskOf<V> face, typename M::Segment segment, Vec3<V> p,
                           V s) {
  requires std::is_same_v<typename M::Place::Number, V>;
  requires SegmentOf<typename M::Segment, V>;
  { mesh.is_part() } -> std::convertible_to<bool>;  // of a larger one: lanes may depart
  { mesh.record(lane.place, unsigned()) } -> std::same_as<LaneAddress<V>>;
  { mesh.segment(lane.place, p, p) } -> std::same_as<typename M::Segment>;
  { mesh.nearest_face(lane.place, p) } -> std::convertible_to<V>;
  { mesh.joins_equal_cells() } -> std::convertible_to<bool>;
  { mesh.room_in_equal_cells(lane) } -> std::convertible_to<V>;
  mesh.advance(moved, s, segment);
  { mesh.leap(moved, s) } -> std::convertible_to<MaskOf<V>>;
  { mesh.cross(moved, face, segment) } -> std::same_as<Passage<V>>;
};

}  // namespace THOR_ISA
}  // namespace thor
