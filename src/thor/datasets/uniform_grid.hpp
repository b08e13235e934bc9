#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/datasets/fields.hpp"
#include "thor/datasets/packed_cell.hpp"
#include "thor/math/gather.hpp"

namespace thor {

/// Cubic cells, each with its own density, temperature, velocity and dust. The unit of length is a cell, that of
/// velocity the thermal speed of the run. A position is a cell and an offset from its nearer face along each axis: from
/// the lower one if positive (0 to 1/2), from the upper one if negative (-1/2 to 0). So both faces are resolved alike:
/// an offset from the lower corner would resolve 6e-8 near 1 in single precision, where mean free paths may be 1e-10.
///
/// The numbers of a cell lie side by side, so that a photon that enters it waits for memory once:
///
///   n sigma_0 per cell length at the cell's own temperature, 1/w, v_x, v_y, v_z [, dust ratio] [, core scale]
///
/// w is the thermal speed, the dust ratio the extinction over n sigma_0, the core scale the length of core skipping at
/// a face (neighbourhood.hpp). Packed they are 12 bytes (packed_cell.hpp), 16 with the core scale. Cells lie in memory
/// by tiles of 4 x 4 x 4, so that three of four steps to a neighbour stay within some lines of the cache; in thin gas
/// that is 9 % faster (docs/contributing/kernel-performance.md).
template <class R>
struct UniformGrid {
  using Real = R;
  Array<float> cells;
  Array<float> around;  ///< for each cell, the box of equal cells around it (equal_cells.hpp); none: no two are equal
  int shape[3];
  int tile;        ///< cells along a tile are 2^tile; 0 in small grids
  int tiles[3];    ///< along each axis, the last index the fastest in memory, as in a tile
  int stride;      ///< numbers of a cell
  int dust;        ///< which of them is the dust ratio; 0: none
  int core_scale;  ///< and the core scale
  bool packed;
  bool periodic;
  int borders;          ///< bits 2 k and 2 k + 1: behind the lower and upper face along axis k lies another part
  float velocity_step;  ///< packed: the unit of velocities
  Real zero[3];         ///< where the origin of the coordinates lies [cells from the corner]
  Real hubble;          ///< H per cell
  Real step_scale;      ///< f/H, the longest step in units of w profile_scale(x)
  Real stop;            ///< a photon this far to the red of the line is stopped; 0: none is,
  Real stop_flight;     ///< once it has flown so far since its last scattering: for dust, and for decays out there
  Real dust_reach;      ///< dust counts on a path so long since the last scattering; 0: everywhere

  static void for_each_field(auto f, auto&... d) {
    f(d.cells...), f(d.around...), f(d.shape...), f(d.tile...), f(d.tiles...), f(d.stride...), f(d.dust...),
        f(d.core_scale...);
    f(d.packed...), f(d.periodic...), f(d.borders...), f(d.velocity_step...), f(d.zero...), f(d.hubble...),
        f(d.step_scale...);
    f(d.stop...), f(d.stop_flight...), f(d.dust_reach...);
  }
};

inline namespace THOR_ISA {

/// The tile of a cell, and its place there; B: an unsigned integer, or a pack of them.
template <class B>
struct CellPlace {
  B tile, within;
};
template <class B, class Real>
THOR_FN CellPlace<B> place_of_cell(const UniformGrid<Real>& g, B x, B y, B z) {
  const int b = g.tile;
  const B last((1u << b) - 1), tiles_y(static_cast<unsigned>(g.tiles[1])), tiles_z(static_cast<unsigned>(g.tiles[2]));
  return {((x >> b) * tiles_y + (y >> b)) * tiles_z + (z >> b), (((((x & last) << b) + (y & last)) << b) + (z & last))};
}
/// Where each lane's cell begins; only this takes 64 bits, so that a grid may have 2^32 tiles.
template <class V>
THOR_FN LaneAddress<V> cell_address(const UniformGrid<RealOf<V>>& g, IntOf<V> x, IntOf<V> y, IntOf<V> z) {
  using Bits = BitsOf<V>;
  const auto place =
      place_of_cell(g, __builtin_bit_cast(Bits, x), __builtin_bit_cast(Bits, y), __builtin_bit_cast(Bits, z));
  const unsigned stride = static_cast<unsigned>(g.stride);
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

/// The gas of a cell.
template <class V>
struct CellGas {
  V opacity, inverse_width;
  Vec3<V> velocity;
  V dust_ratio, core_scale;
};

/// The path to the nearest of the three faces ahead.
template <class V>
struct CellSegment {
  static constexpr RealOf<V> shorter = sizeof(RealOf<V>) == 4 ? RealOf<V>(1 - 0x1p-21) : RealOf<V>(1 - 0x1p-50);
  Vec3<V> to_face;
  V distance = V(shorter) * min(to_face.x, min(to_face.y, to_face.z));
  THOR_FN MaskOf<V> reaches(V s) const { return s >= distance; }
  THOR_FN V length() const { return distance; }
  THOR_FN IntOf<V> next() const { return IntOf<V>(outside); }
};

template <class V>
struct UniformGridView {
  static constexpr bool substeps = true, dusty = true, redshifts = true, stops = true;
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Mask = MaskOf<V>;
  using Place = GridPlace<V, IntOf<V>>;
  using Here = CellGas<V>;
  using Width = CellWidth<V>;
  using Segment = CellSegment<V>;
  const UniformGrid<Real>& data;

  THOR_FN bool varies() const { return data.hubble > Real(0); }
  THOR_FN bool is_part() const { return data.borders != 0; }

  THOR_FN Here at(Int x, Int y, Int z) const {
    const auto address = cell_address<V>(data, x, y, z);
    const Numbers<V> numbers{data.cells.data, address};
    Here h;
    h.dust_ratio = h.core_scale = V(Real(0));
    if (data.packed) {
      const auto part = [&](auto unpack, int k) THOR_INLINE_LAMBDA {
        return gather(address,
                      [&](std::int64_t i) THOR_INLINE_LAMBDA { return unpack(to_bits(data.cells.data[i + k])); });
      };
      const V step(Real(data.velocity_step));
      h.opacity = part([](std::uint32_t word) { return unpack_wide(word >> 16); }, 0);
      h.inverse_width = part([](std::uint32_t word) { return unpack_narrow(word & 0xffff); }, 0);
      h.velocity.x = step * part([](std::uint32_t word) { return unpack_signed(word >> 16); }, 1);
      h.velocity.y = step * part([](std::uint32_t word) { return unpack_signed(word & 0xffff); }, 1);
      h.velocity.z = step * part([](std::uint32_t word) { return unpack_signed(word >> 16); }, 2);
      h.dust_ratio = part([](std::uint32_t word) { return unpack_wide(word & 0xffff); }, 2);
      if (data.core_scale > 0) h.core_scale = numbers[3];
    } else {
      h.opacity = numbers[0], h.inverse_width = numbers[1];
      h.velocity = {numbers[2], numbers[3], numbers[4]};
      if (data.dust > 0) h.dust_ratio = numbers[5];
      if (data.core_scale > 0) h.core_scale = data.dust > 0 ? numbers[6] : numbers[5];
    }
    return h;
  }
  template <class Lane>
  THOR_FN Here here(const Lane& lane) const {
    return at(lane.place.x, lane.place.y, lane.place.z);
  }

  /// The gas of a cell is the same everywhere in it.
  template <class Lane>
  THOR_FN Here arrived(const Lane&, const Here& here) const {
    return here;
  }

  THOR_FN Width width(const Here& h) const { return {divide(V(Real(1)), h.inverse_width), h.inverse_width}; }
  THOR_FN V opacity(const Here& h, Vec3<V>) const { return h.opacity; }
  THOR_FN V velocity_along(const Here& h, Vec3<V>, Vec3<V> d) const { return dot(h.velocity, d); }
  template <class Dust>
  THOR_FN V dust_ratio(const Here& h, const Dust&) const {
    return h.dust_ratio;
  }
  /// The Hubble flow shifts the frequency by at most f w profile_scale(x) in a step.
  THOR_FN V max_step(const Here& h, Vec3<V>, Vec3<V>, V x) const {
    return V(data.step_scale) * profile_scale(x) * divide(V(Real(1)), h.inverse_width);
  }

  /// The way to the face; in the Hubble flow a sub-step, with the frequency of its middle.
  template <class I>
  THOR_FN Leg<V> leg(const Here& here, Vec3<V> p, Vec3<V> d, const Segment& segment, V frequency,
                     const I& interactor) const {
    const auto w = width(here);
    Leg<V> leg{w.over(frequency - velocity_along(here, p, d)), segment.length(), p, V(Real(0)), V(Real(0))};
    if (varies()) {
      leg.limit = min(max_step(here, p, d, interactor.detuning(leg.x, w)), leg.limit);
      leg.shear = w.over(V(-data.hubble));
      leg.x = fma(V(Real(0.5)) * leg.limit, leg.shear, leg.x);
    }
    return leg;
  }
  THOR_FN V redshifted(V frequency, V s) const { return fma(V(-data.hubble), s, frequency); }
  /// In a periodic box dust counts up to `dust_reach` of a flight: a leg ends there, and meets none behind.
  THOR_FN void limit_dust(Here& here, Leg<V>& leg, V flown) const {
    if (!(data.dust_reach > Real(0))) return;
    const V zero(Real(0)), left = V(data.dust_reach) - flown;
    here.dust_ratio = select(left > zero, here.dust_ratio, zero);
    leg.limit = select(left > zero, min(leg.limit, left), leg.limit);
  }
  THOR_FN bool may_stop() const { return data.stop > Real(0); }
  /// Far enough to the red of every absorbing transition in the fastest gas.
  template <class Lane>
  THOR_FN Mask stopped(const Lane& lane) const {
    return lane.frequency < V(-data.stop) && lane.flown >= V(data.stop_flight);
  }

  /// The core scale at a face plus the distance to the nearest face, in cells; at most the distance over which the
  /// Hubble flow shifts by a thermal width.
  THOR_FN V core_scale(const Here& h, Vec3<V> p, Vec3<V>) const {
    V scale = h.core_scale + min(abs(p.x), min(abs(p.y), abs(p.z)));
    if (varies()) scale = min(scale, divide(V(Real(1)), h.inverse_width * V(data.hubble)));
    return scale;
  }

  /// Within the cell, or the cells around it that hold the same gas.
  template <class Lane>
  THOR_FN V room(const Lane& lane, const Here& h, const auto& limits) const {
    V radius = min(abs(lane.px), min(abs(lane.py), abs(lane.pz)));
    if (data.around.count > 0) [[unlikely]]
      radius = to_other_gas(lane);
    if (varies()) radius = min(radius, divide(V(limits.shear), h.inverse_width * V(data.hubble)));
    return radius;
  }
  THOR_FN V density_slope(Vec3<V>, Vec3<V>) const { return V(Real(0)); }
  THOR_FN V velocity_slope(const Here& h, Vec3<V>) const { return h.inverse_width * V(data.hubble); }

  /// Short by some rounding errors, so that no flight within the cell turns the sign of an offset.
  THOR_FN CellSegment<V> segment(const Here&, Vec3<V> p, Vec3<V> d) const {
    const V tiny(Real(1e-20));
    const auto over = [&](V way, V slope) THOR_INLINE_LAMBDA { return divide(way, max(abs(slope), tiny)); };
    return {{over(ahead(p.x, d.x), d.x), over(ahead(p.y, d.y), d.y), over(ahead(p.z, d.z), d.z)}};
  }
  /// Along a direction whose components have these inverse amounts.
  THOR_FN CellSegment<V> segment(const Here&, Vec3<V> p, Vec3<V> d, const Real (&inverse)[3]) const {
    return {{ahead(p.x, d.x) * V(inverse[0]), ahead(p.y, d.y) * V(inverse[1]), ahead(p.z, d.z) * V(inverse[2])}};
  }
  /// The way to the face ahead along an axis.
  THOR_FN V ahead(V offset, V slope) const {
    const V near = abs(offset), zero(Real(0));
    return select((slope > zero) == (offset < zero), near, V(Real(1)) - near);
  }

  template <class Lane>
  THOR_FN void advance(Lane& lane, V s) const {
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
  /// The way to the nearest face of the box of equal cells.
  template <class Lane>
  THOR_FN V to_other_gas(const Lane& lane) const {
    using Bits = BitsOf<V>;
    const V zero(Real(0)), one(Real(1));
    const Place cell = held(lane.place);
    const auto place = place_of_cell(data, __builtin_bit_cast(Bits, cell.x), __builtin_bit_cast(Bits, cell.y),
                                     __builtin_bit_cast(Bits, cell.z));
    const auto address = lane_address<V>(place.tile, 1u << (3 * data.tile), place.within);
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
      advance(lane, s);
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

  /// The place of a lane `back` ago along its direction; in a periodic box the place in the box, not that of an image.
  template <class Lane>
  THOR_FN void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    const double place[3] = {lane.px, lane.py, lane.pz}, slope[3] = {lane.dx, lane.dy, lane.dz};
    const Int cells[3] = {lane.place.x, lane.place.y, lane.place.z};
    for (int k = 0; k < 3; ++k) {
      double from_corner = from_lower_face(place[k]) - back * slope[k] + double(cells[k]);
      if (data.periodic) {
        const double turns = from_corner / double(data.shape[k]);
        const double whole = double(std::int64_t(turns)) - (turns < 0 ? 1 : 0);
        from_corner -= whole * double(data.shape[k]);
      }
      position[k] = from_corner - double(data.zero[k]);
    }
  }
  template <class Lane>
  THOR_FN double frequency_scattered(const Lane& lane) const {
    return double(lane.frequency) + double(data.hubble) * double(lane.flown);
  }

  // ---- The birth of a photon, one at a time.

  THOR_FN void place_point(auto& birth, const Real (&offset)[3], const int (&cell)[3]) const {
    birth.position = {offset[0], offset[1], offset[2]};
    birth.place = {cell[0], cell[1], cell[2]};
  }
  /// A grid shines by a table of its cells.
  THOR_FN void place_in_medium(auto&, Real, Vec3<Real>) const {}
  /// Source i of a table: in its own cell, or in cell i, counted z first; at its offset, or anywhere in the cell.
  THOR_FN void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real> anywhere) const {
    if (table.place) {
      const std::int32_t* cell = table.place + 3 * index;
      birth.place = {cell[0], cell[1], cell[2]};
    } else {
      const auto ny = static_cast<std::uint64_t>(data.shape[1]), nz = static_cast<std::uint64_t>(data.shape[2]);
      birth.place = {IntOf<Real>(index / (ny * nz)), IntOf<Real>(index / nz % ny), IntOf<Real>(index % nz)};
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
    IntOf<Real>* const cells[3] = {&birth.place.x, &birth.place.y, &birth.place.z};
    Real* const offsets[3] = {&birth.position.x, &birth.position.y, &birth.position.z};
    for (int k = 0; k < 3; ++k) {
      const IntOf<Real> last = data.shape[k] - 1;
      IntOf<Real> cell = IntOf<Real>(from_corner[k]);
      cell = cell < 0 ? 0 : cell > last ? last : cell;
      *cells[k] = cell;
      *offsets[k] = min(max(from_corner[k] - Real(cell), Real(0)), Real(1));
    }
  }
  /// From a point outside to where its ray enters, which is exactly on a face.
  THOR_FN void enter(auto& birth) const {
    const Vec3<Real> p = birth.position, d = birth.direction;
    const Real position[3] = {p.x, p.y, p.z}, slope[3] = {d.x, d.y, d.z};
    Real enters = 0, leaves = no_limit<Real>;
    int through = 0;
    for (int k = 0; k < 3; ++k) {
      const Real low = -data.zero[k] - position[k], high = low + Real(data.shape[k]);
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
    *cells[through] = up ? 0 : data.shape[through] - 1;
  }
  THOR_FN void settle(auto& birth, bool) const {
    birth.position = {from_nearer_face(birth.position.x), from_nearer_face(birth.position.y),
                      from_nearer_face(birth.position.z)};
  }
  THOR_FN bool has_gas(const auto&) const { return true; }
};

template <class V>
THOR_FN UniformGridView<V> view(const UniformGrid<RealOf<V>>& data) {
  return {data};
}
static_assert(DatasetFor<UniformGridView<float>, float> && PlaceableIn<UniformGridView<float>, float>);

}  // namespace THOR_ISA
}  // namespace thor
