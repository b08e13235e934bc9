#pragma once
#include "thor/datasets/cell_medium.hpp"

namespace thor {

/// Cubic cells. The unit of length is a cell, that of velocity the thermal speed of the run. A position is a cell and
/// an offset from its nearer face along each axis: from the lower one if positive (0 to 1/2), from the upper one if
/// negative (-1/2 to 0). So both faces are resolved alike: an offset from the lower corner would resolve 6e-8 near 1 in
/// single precision, where mean free paths may be 1e-10.
///
/// Cells lie in memory by tiles of 4 x 4 x 4, so that three of four steps to a neighbour stay within some lines of the
/// cache; in thin gas that is 9 % faster (docs/contributing/kernel-performance.md).
template <class R>
struct UniformGrid {
  using Real = R;
  GasRecords gas;
  CellPhysics<Real> physics;
  Array<float> around;  ///< for each cell, the box of equal cells around it (equal_cells.hpp); none: no two are equal
  int shape[3];
  int tile;      ///< cells along a tile are 2^tile; 0 in small grids
  int tiles[3];  ///< along each axis, the last index the fastest in memory, as in a tile
  bool periodic;
  int borders;    ///< bits 2 k and 2 k + 1: behind the lower and upper face along axis k lies another part
  int whole[3];   ///< cells of the grid that this is a part of, or all of
  int corner[3];  ///< the first of these cells in that grid
  bool repeats;   ///< that grid is periodic
  Real zero[3];   ///< where the origin of the coordinates lies [cells from the corner of that grid]

  static void for_each_field(auto f, auto&... d) {
    f(d.gas...), f(d.physics...), f(d.around...), f(d.shape...), f(d.tile...), f(d.tiles...), f(d.periodic...);
    f(d.borders...), f(d.whole...), f(d.corner...), f(d.repeats...), f(d.zero...);
  }
};

template <class R>
struct WholeGrid : UniformGrid<R> {};
template <class R>
struct WholeOf<UniformGrid<R>> {
  using type = WholeGrid<R>;
};

inline namespace THOR_ISA {

/// The tile of a cell, and its place there; B: an unsigned integer, or a pack of them.
template <class B>
struct TilePlace {
  B tile, within;
};
template <class B, class Real>
THOR_FN TilePlace<B> tile_place(const UniformGrid<Real>& g, B x, B y, B z) {
  const int b = g.tile;
  const B last((1u << b) - 1), tiles_y(static_cast<unsigned>(g.tiles[1])), tiles_z(static_cast<unsigned>(g.tiles[2]));
  return {((x >> b) * tiles_y + (y >> b)) * tiles_z + (z >> b), (((((x & last) << b) + (y & last)) << b) + (z & last))};
}
/// Where each lane's cell begins, with `stride` numbers a cell; only this takes 64 bits, so that a grid may have 2^32
/// tiles.
template <class V>
THOR_FN LaneAddress<V> cell_address(const UniformGrid<RealOf<V>>& g, IntOf<V> x, IntOf<V> y, IntOf<V> z,
                                    unsigned stride) {
  using Bits = BitsOf<V>;
  const auto place =
      tile_place(g, __builtin_bit_cast(Bits, x), __builtin_bit_cast(Bits, y), __builtin_bit_cast(Bits, z));
  return lane_address<V>(place.tile, stride << (3 * g.tile), place.within * Bits(stride));
}

/// Equal cells on either side of a cell, along x, y and z: six digits of a number with this base, the first the lowest.
inline constexpr int around_base = 8;

/// The offset of a photon on a face: neither zero, which has no side, nor long for any gas.
template <class Real>
inline constexpr Real at_face = Real(0x1p-60);

/// An offset from the lower corner, 0 to 1, as one from the nearer face; and back.
template <class Real>
THOR_FN Real from_nearer_face(Real offset) {
  return offset > Real(0.5) ? min(offset - Real(1), -at_face<Real>) : max(offset, at_face<Real>);
}
template <class Real>
THOR_FN Real from_lower_face(Real offset) {
  return offset < Real(0) ? offset + Real(1) : offset;
}

/// The cell of a photon; its coordinates are the offsets from the nearer faces.
template <class R, class I>
struct GridPlace {
  using Number = R;
  I x, y, z;

  static THOR_FN void for_each_field(auto f, auto&... p) { f(p.x...), f(p.y...), f(p.z...); }
};

/// The path to the nearest of the three faces ahead.
template <class V>
struct CellSegment {
  static constexpr RealOf<V> shorter = sizeof(RealOf<V>) == 4 ? RealOf<V>(1 - 0x1p-21) : RealOf<V>(1 - 0x1p-50);
  Vec3<V> to_face;
  V distance = V(shorter) * min(to_face.x, min(to_face.y, to_face.z));
  THOR_FN MaskOf<V> reaches(V s) const { return s >= distance; }
  THOR_FN V length() const { return distance; }
};

template <class V, bool may_be_part = true>
struct UniformGridView : CellMedium<UniformGridView<V, may_be_part>, V> {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Mask = MaskOf<V>;
  using Place = GridPlace<V, IntOf<V>>;
  using Segment = CellSegment<V>;
  const UniformGrid<Real>& data;

  THOR_FN bool is_part() const { return may_be_part && data.borders != 0; }

  THOR_FN LaneAddress<V> record(const Place& cell, unsigned stride) const {
    return cell_address<V>(data, cell.x, cell.y, cell.z, stride);
  }
  THOR_FN V nearest_face(const Place&, Vec3<V> p) const { return min(abs(p.x), min(abs(p.y), abs(p.z))); }

  /// Short by some rounding errors, so that no flight within the cell turns the sign of an offset.
  THOR_FN CellSegment<V> segment(const Place&, Vec3<V> p, Vec3<V> d) const {
    const V tiny(Real(1e-20));
    const auto over = [&](V way, V slope) THOR_INLINE_LAMBDA { return divide(way, max(abs(slope), tiny)); };
    return {{over(ahead(p.x, d.x), d.x), over(ahead(p.y, d.y), d.y), over(ahead(p.z, d.z), d.z)}};
  }
  /// Along a direction whose components have these inverse amounts.
  THOR_FN CellSegment<V> segment(const Place&, Vec3<V> p, Vec3<V> d, const Real (&inverse)[3]) const {
    return {{ahead(p.x, d.x) * V(inverse[0]), ahead(p.y, d.y) * V(inverse[1]), ahead(p.z, d.z) * V(inverse[2])}};
  }
  /// The way to the face ahead along an axis.
  THOR_FN V ahead(V offset, V slope) const {
    const V near = abs(offset), zero(Real(0));
    return select((slope > zero) == (offset < zero), near, V(Real(1)) - near);
  }

  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const auto&) const {
    const auto move = [&](V& offset, V slope) THOR_INLINE_LAMBDA {
      const V there = fma(s, slope, offset);
      offset = there - round_to_integer(there);
    };
    move(lane.px, lane.dx), move(lane.py, lane.dy), move(lane.pz, lane.dz);
  }

  /// The cell of a lane; where it has departed for another part, one that there is.
  THOR_FN Place held(Place cell) const {
    if (!is_part()) [[likely]]
      return cell;
    const auto inside = [&](Int index, int axis) THOR_INLINE_LAMBDA {
      return at_least<V>(index, 0) && !at_least<V>(index, data.shape[axis]);
    };
    return place_or_first<V>(inside(cell.x, 0) && inside(cell.y, 1) && inside(cell.z, 2), cell);
  }
  THOR_FN bool joins_equal_cells() const { return data.around.count > 0; }
  /// The way to the nearest face of the box of equal cells.
  template <class Lane>
  THOR_FN V room_in_equal_cells(const Lane& lane) const {
    const V zero(Real(0)), one(Real(1));
    const auto address = record(held(lane.place), 1);
    V digits = Numbers<V>{data.around.data, address}[0];
    const auto next = [&]() THOR_INLINE_LAMBDA {
      const V rest = round_to_integer(fma(digits, V(Real(1. / around_base)), V(Real(0.5 / around_base - 0.5))));
      const V digit = fma(V(Real(-around_base)), rest, digits);
      digits = rest;
      return digit;
    };
    const auto along = [&](V offset) THOR_INLINE_LAMBDA {
      const auto upper = offset < zero;
      const V below = next() + select(upper, one + offset, offset);
      return min(below, next() + select(upper, -offset, one - offset));
    };
    const V x = along(lane.px), y = along(lane.py), z = along(lane.pz);
    return min(x, min(y, z));
  }

  /// As advance(), and through equal cells too. True where a lane has left the part of a grid that this is.
  template <class Lane>
  THOR_FN Mask leap(Lane& lane, V s) const {
    if (data.around.count == 0) {
      advance(lane, s, NoSegment());
      return Mask(false);
    }
    const V zero(Real(0)), one(Real(1));
    const V shift(sizeof(Real) == 4 ? Real(12582912) : Real(6755399441055744));  // 1.5 2^23, 1.5 2^52
    Mask beyond(false);
    const auto move = [&](V& offset, V slope, Int& cell, int count) THOR_INLINE_LAMBDA {
      const V there = fma(s, slope, offset), faces = round_to_integer(there), from = there - faces;
      const V cells = faces + select(offset < zero, one, zero) - select(from < zero, one, zero);
      cell = cell + (__builtin_bit_cast(Int, to_bits(cells + shift)) - __builtin_bit_cast(Int, to_bits(shift)));
      offset = select(abs(from) > zero, from, V(at_face<Real>));
      beyond = beyond || at_least<V>(cell, count) || !at_least<V>(cell, 0);
    };
    move(lane.px, lane.dx, lane.place.x, data.shape[0]);
    move(lane.py, lane.dy, lane.place.y, data.shape[1]);
    move(lane.pz, lane.dz, lane.place.z, data.shape[2]);
    return beyond;
  }

  /// The cell of a lane that departs is the one behind the border, counted on from those of this part.
  template <class Lane>
  THOR_FN Passage<V> cross(Lane& lane, Mask face, const CellSegment<V>& s) const {
    const V zero(Real(0)), face_offset(at_face<Real>);
    const Mask x = face && s.to_face.x <= s.to_face.y && s.to_face.x <= s.to_face.z;
    const Mask y = face && !x && s.to_face.y <= s.to_face.z;
    const Mask z = face && !x && !y;
    Passage<V> passage{Mask(false), Mask(false)};
    const auto enter = [&](Mask through, V slope, V& offset, Int& cell, int count) THOR_INLINE_LAMBDA {
      const Mask up = slope > zero;
      Int next = cell + select(through, select(up, Int(1), Int(-1)), Int(0));
      Mask out(false);
      if (data.periodic) {
        next = select(at_least<V>(next, count), Int(0), next);
        next = select(at_least<V>(next, 0), next, Int(count - 1));
      } else {
        out = at_least<V>(next, count) || !at_least<V>(next, 0);
        next = select(out, cell, next);
      }
      // At the face exactly; one that leaves stays at the outer one.
      offset = select(through, select(up == out, -face_offset, face_offset), offset);
      cell = next;
      passage.leaves = passage.leaves || out;
    };
    enter(x, lane.dx, lane.px, lane.place.x, data.shape[0]);
    enter(y, lane.dy, lane.py, lane.place.y, data.shape[1]);
    enter(z, lane.dz, lane.pz, lane.place.z, data.shape[2]);
    if (is_part()) [[unlikely]] {  // apart: few runs have parts
      const auto go_on = [&](Mask through, V slope, V& offset, Int& cell, int axis) THOR_INLINE_LAMBDA {
        const int bits = data.borders >> (2 * axis);
        const Mask up = slope > zero, border = (up && Mask((bits & 2) != 0)) || (!up && Mask((bits & 1) != 0));
        const Mask departs = passage.leaves && through && border;
        cell = cell + select(departs, select(up, Int(1), Int(-1)), Int(0));
        offset = select(departs, -offset, offset);
        passage.departs = passage.departs || departs;
      };
      go_on(x, lane.dx, lane.px, lane.place.x, 0);
      go_on(y, lane.dy, lane.py, lane.place.y, 1);
      go_on(z, lane.dz, lane.pz, lane.place.z, 2);
      passage.leaves = passage.leaves && face && !passage.departs;
    }
    return passage;
  }

  /// The place of a lane `back` ago along its direction, in the whole grid; in a periodic box the place in the box, not
  /// that of an image.
  template <class Lane>
  THOR_FN void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    const double place[3] = {lane.px, lane.py, lane.pz}, slope[3] = {lane.dx, lane.dy, lane.dz};
    const Int cells[3] = {lane.place.x, lane.place.y, lane.place.z};
    for (int k = 0; k < 3; ++k) {
      double from_corner = from_lower_face(place[k]) - back * slope[k] + double(shifted(cells[k], data.corner[k], k));
      if (data.repeats) {
        const double turns = from_corner / double(data.whole[k]);
        const double whole = double(std::int64_t(turns)) - (turns < 0 ? 1 : 0);
        from_corner -= whole * double(data.whole[k]);
      }
      position[k] = from_corner - double(data.zero[k]);
    }
  }

  // ---- The birth of a photon, one at a time.

  /// A cell of the grid that this is a part of, in the part's own cells; where it is elsewhere, one that there is not.
  THOR_FN Place own(IntOf<Real> x, IntOf<Real> y, IntOf<Real> z) const {
    return {shifted(x, -data.corner[0], 0), shifted(y, -data.corner[1], 1), shifted(z, -data.corner[2], 2)};
  }
  /// The gas where a photon begins. A ray of its birth may begin in another part, where light does not depend on it.
  template <class Birth>
  THOR_FN auto gas_at_birth(const Birth& birth) const {
    return this->at(held(birth.place));
  }

  THOR_FN void place_point(auto& birth, const Real (&offset)[3], const int (&cell)[3]) const {
    birth.position = {offset[0], offset[1], offset[2]};
    birth.place = own(cell[0], cell[1], cell[2]);
  }
  /// Source i of a table: in its own cell, or in cell i, counted z first; at its offset, or anywhere in the cell.
  THOR_FN void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real> anywhere) const {
    if (table.place) {
      const std::int32_t* cell = table.place + 3 * index;
      birth.place = own(cell[0], cell[1], cell[2]);
    } else {
      const auto ny = static_cast<std::uint64_t>(data.whole[1]), nz = static_cast<std::uint64_t>(data.whole[2]);
      birth.place = own(IntOf<Real>(index / (ny * nz)), IntOf<Real>(index / nz % ny), IntOf<Real>(index % nz));
    }
    birth.position = anywhere;
    if (table.offset) {
      const float* offset = table.offset + 3 * index;
      birth.position = {Real(offset[0]), Real(offset[1]), Real(offset[2])};
    }
  }
  /// A position from the origin of the coordinates becomes a cell and an offset.
  THOR_FN void place_on_surface(auto& birth) const {
    const Real from_corner[3] = {birth.position.x + data.zero[0], birth.position.y + data.zero[1],
                                 birth.position.z + data.zero[2]};
    place_from_corner(birth, from_corner);
  }
  /// The same of a position from the corner of the grid.
  template <class T>
  THOR_FN void place_from_corner(auto& birth, const T (&from_corner)[3]) const {
    IntOf<Real> cells[3] = {};
    Real* const offsets[3] = {&birth.position.x, &birth.position.y, &birth.position.z};
    for (int k = 0; k < 3; ++k) {
      const IntOf<Real> last = data.whole[k] - 1;
      IntOf<Real> cell = IntOf<Real>(from_corner[k]);
      cell = cell < 0 ? 0 : cell > last ? last : cell;
      cells[k] = cell;
      *offsets[k] = Real(min(max(from_corner[k] - T(cell), T(0)), T(1)));
    }
    birth.place = own(cells[0], cells[1], cells[2]);
  }
  /// From a point outside to where its ray enters, which is exactly on a face.
  THOR_FN void enter(auto& birth) const {
    const Vec3<Real> p = birth.position, d = birth.direction;
    const Real position[3] = {p.x, p.y, p.z}, slope[3] = {d.x, d.y, d.z};
    Real enters = 0, leaves = no_limit<Real>;
    int through = 0;
    for (int k = 0; k < 3; ++k) {
      const Real low = -data.zero[k] - position[k], high = low + Real(data.whole[k]);
      const Real inverse = Real(1) / (abs(slope[k]) > Real(1e-20) ? slope[k] : Real(1e-20));
      const Real first = min(low * inverse, high * inverse);
      if (first > enters) enters = first, through = k;
      leaves = min(leaves, max(low * inverse, high * inverse));
    }
    birth.misses = enters > leaves;
    birth.position = along(p, enters, d);
    place_on_surface(birth);
    Real* const offsets[3] = {&birth.position.x, &birth.position.y, &birth.position.z};
    IntOf<Real>* const cells[3] = {&birth.place.x, &birth.place.y, &birth.place.z};
    const bool up = slope[through] > Real(0);
    *offsets[through] = up ? Real(0) : Real(1);
    *cells[through] = shifted(up ? 0 : data.whole[through] - 1, -data.corner[through], through);
  }
  THOR_FN void settle(auto& birth, bool) const {
    birth.position = {from_nearer_face(birth.position.x), from_nearer_face(birth.position.y),
                      from_nearer_face(birth.position.z)};
  }

 private:
  /// A cell counted from another one along an axis; in a periodic grid each has one name.
  template <class I>
  THOR_FN I shifted(I cell, int by, int axis) const {
    if constexpr (may_be_part) {
      cell += by;
      if (data.repeats) cell += cell < 0 ? data.whole[axis] : cell >= data.whole[axis] ? -data.whole[axis] : 0;
    }
    return cell;
  }
};

template <class V>
THOR_FN UniformGridView<V> view(const UniformGrid<RealOf<V>>& data) {
  return {{}, data};
}
template <class V>
THOR_FN UniformGridView<V, false> view(const WholeGrid<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA
}  // namespace thor
