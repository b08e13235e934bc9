#pragma once
#include "thor/datasets/mesh_part.hpp"
#include "thor/datasets/uniform_grid.hpp"
#include "thor/math/lookup.hpp"

namespace thor {

struct OctreeOfBirths;

/// Cubic leaves of a tree whose nodes have eight children each. The unit of length is the finest leaf, so that leaves
/// lie at integers and are powers of two wide, and all changes between them are exact. A position is a leaf and an
/// offset from its nearer face along each axis, as in a uniform grid (uniform_grid.hpp): an octree whose leaves are all
/// of one level has the photons of that grid, bit for bit.
///
/// A point is found from a dense table of one level, and then by at most depth - table_depth children.
///
/// A part of an octree has the leaves that it holds, and those behind its border under the numbers of CellsHeld; of
/// the rest it knows nothing. Photons are born on the host, which has the whole.
template <class R>
struct Octree {
  using Real = R;
  GasRecords gas;
  CellPhysics<Real> physics;
  Array<std::int32_t> table;   ///< for each place of that level, x slowest: the node there, or ~leaf, and its width
  Array<std::int32_t> nodes;   ///< the eight children of each node, x slowest: a node, or ~leaf
  Array<std::int32_t> firsts;  ///< the first leaf below each node; leaves are numbered along the curve of the tree
  int depth;                   ///< level of the finest leaves; the root has level 0
  int table_depth;
  bool periodic;
  std::int32_t held;             ///< leaves of a part; 0: this is the whole
  OnHost<OctreeOfBirths> whole;  ///< that it is a part of
  Real zero[3];                  ///< where the origin of the coordinates lies [finest leaves from the corner]

  static void for_each_field(auto f, auto&... d) {
    f(d.gas...), f(d.physics...), f(d.table...), f(d.nodes...), f(d.firsts...);
    f(d.depth...), f(d.table_depth...), f(d.periodic...), f(d.held...), f(d.whole...), f(d.zero...);
  }
};
struct OctreeOfBirths {
  Octree<double> tree;
  CellsHeld part;
};

/// One that is no part, for kernels without borders.
template <class R>
struct WholeOctree : Octree<R> {};
template <class R>
struct WholeOf<Octree<R>> {
  using type = WholeOctree<R>;
};

inline namespace THOR_ISA {

/// The leaf of a photon, and its centre in halves of the finest leaf: an odd multiple of half its width, so that the
/// lowest bit that is set is the width.
template <class R, class I>
struct OctreePlace {
  using Number = R;
  I leaf, x, y, z;

  static THOR_FN void for_each_field(auto f, auto&... p) { f(p.leaf...), f(p.x...), f(p.y...), f(p.z...); }
};

template <class I>
THOR_FN I width_of_leaf(I centre) {
  return centre & (I(0) - centre);
}
template <class I>
THOR_FN I lower_face(I centre, I width) {
  return (centre - width) >> 1;
}

template <class I>
struct FoundLeaf {
  I leaf, width;
};

/// 1/x of a power of two: the exponent changes its sign.
template <class V>
THOR_FN V inverse_of_power(V x) {
  using Bits = BitsOf<V>;
  return from_bits(static_cast<Bits>(Bits(2) * to_bits(V(RealOf<V>(1))) - to_bits(x)));
}

/// Integers from memory, each lane's from its own place.
template <class V>
THOR_FN IntOf<V> integers_at(const Array<std::int32_t>& memory, IntOf<V> place) {
#if !defined(THOR_GPU_COMPILER)
  if constexpr (!std::is_arithmetic_v<V> && sizeof(RealOf<V>) == 4) {
    return __builtin_bit_cast(IntOf<V>, lookup<V>(reinterpret_cast<const float*>(memory.data), place));
  }
#endif
  const auto address = lane_address<V>(__builtin_bit_cast(BitsOf<V>, place), 1, BitsOf<V>(0u));
  const V bits = gather(address, [&](std::int64_t i) THOR_INLINE_LAMBDA {
    return __builtin_bit_cast(RealOf<V>, IntOf<RealOf<V>>(memory.data[i]));
  });
  return __builtin_bit_cast(IntOf<V>, to_bits(bits));
}

template <class V, bool may_be_part = true>
struct OctreeView : CellMedium<OctreeView<V, may_be_part>, V> {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Mask = MaskOf<V>;
  using Place = OctreePlace<V, IntOf<V>>;
  using Segment = CellSegment<V>;
  const Octree<Real>& data;

  THOR_FN bool is_part() const { return may_be_part && data.held > 0; }
  /// The place of a lane; where it is behind the border, one that there is.
  THOR_FN Place held(const Place& place) const {
    if (!is_part()) [[likely]]
      return place;
    return place_or_first<V>(!at_least<V>(place.leaf, data.held), place);
  }
  /// The gas where a photon begins. A ray of its birth may begin in another part, where light does not depend on it.
  template <class Birth>
  THOR_FN auto gas_at_birth(const Birth& birth) const {
    return this->at(held(birth.place));
  }

  THOR_FN LaneAddress<V> record(const Place& place, unsigned stride) const {
    return lane_address<V>(__builtin_bit_cast(BitsOf<V>, place.leaf), stride, BitsOf<V>(0u));
  }
  THOR_FN V side_of(const Place& place) const { return int_to_real<V>(width_of_leaf(place.x)); }
  THOR_FN V nearest_face(const Place&, Vec3<V> p) const { return min(abs(p.x), min(abs(p.y), abs(p.z))); }

  /// Short by some rounding errors, so that no flight within the leaf turns the sign of an offset.
  THOR_FN CellSegment<V> segment(const Place& place, Vec3<V> p, Vec3<V> d) const {
    const V tiny(Real(1e-20)), zero(Real(0)), side = side_of(place);
    const auto way = [&](V offset, V slope) THOR_INLINE_LAMBDA {
      const V near = abs(offset);
      return divide(select((slope > zero) == (offset < zero), near, side - near), max(abs(slope), tiny));
    };
    return {{way(p.x, d.x), way(p.y, d.y), way(p.z, d.z)}};
  }

  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const auto&) const {
    const V side = side_of(lane.place), inverse = inverse_of_power(side);
    const auto move = [&](V& offset, V slope) THOR_INLINE_LAMBDA {
      const V there = fma(s, slope, offset);
      offset = fma(-side, round_to_integer(there * inverse), there);
    };
    move(lane.px, lane.dx), move(lane.py, lane.dy), move(lane.pz, lane.dz);
  }
  THOR_FN bool joins_equal_cells() const { return false; }
  template <class Lane>
  THOR_FN V room_in_equal_cells(const Lane&) const {
    return V(Real(0));
  }
  template <class Lane>
  THOR_FN Mask leap(Lane& lane, V s) const {
    advance(lane, s, NoSegment());
    return Mask(false);
  }

  /// Which leaf has a point [finest leaves from the corner], and how wide it is.
  template <class W>
  THOR_FN FoundLeaf<IntOf<W>> find(IntOf<W> x, IntOf<W> y, IntOf<W> z) const {
    using I = IntOf<W>;
    const int up = data.depth - data.table_depth, t = data.table_depth;
    // Lanes that are idle have no leaf, but read one, too.
    const auto within = [&](I k) THOR_INLINE_LAMBDA { return (k >> up) & I((1 << t) - 1); };
    const I at = ((((within(x) << t) | within(y)) << t) | within(z)) << 1;
    I entry = integers_at<W>(data.table, at), width = integers_at<W>(data.table, at + I(1));
    for (int level = t; level < data.depth; ++level) {  // at most `up` times
      const auto inner = at_least<W>(entry, 0);
      if (!any(inner)) break;
      const I half = width >> 1;
      const auto bit = [&](I k, int child) THOR_INLINE_LAMBDA { return select(equal<W>(k & half, 0), I(0), I(child)); };
      const I child = (select(inner, entry, I(0)) << 3) + bit(x, 4) + bit(y, 2) + bit(z, 1);
      entry = select(inner, integers_at<W>(data.nodes, child), entry);
      width = select(inner, half, width);
    }
    return {I(-1) - entry, width};
  }

  template <class Lane>
  THOR_FN Passage<V> cross(Lane& lane, Mask face, const CellSegment<V>& s) const {
    const V zero(Real(0)), face_offset(at_face<Real>);
    const Mask x = face && s.to_face.x <= s.to_face.y && s.to_face.x <= s.to_face.z;
    const Mask y = face && !x && s.to_face.y <= s.to_face.z;
    const Mask z = face && !x && !y;
    const int root = 1 << data.depth;
    const Int width = width_of_leaf(lane.place.x), one(1), none(0);
    Mask out(false);
    // The face that an offset counts from, and a finest leaf that lies on the way.
    const auto near_face = [&](V offset, Int lower)
                               THOR_INLINE_LAMBDA { return lower + select(offset < zero, width, none); };
    const auto target = [&](Mask through, V slope, V offset, Int lower) THOR_INLINE_LAMBDA {
      Int beside = near_face(offset, lower) + floor_to_int(offset);  // rounding does not leave the leaf
      beside = select(mask_of(beside - lower), lower,
                      select(mask_of(lower + width - one - beside), lower + width - one, beside));
      Int behind = select(slope > zero, lower + width, lower - one);
      const Mask beyond = at_least<V>(behind, root) || !at_least<V>(behind, 0);
      if (data.periodic) {
        behind = select(beyond, select(slope > zero, none, Int(root - 1)), behind);
      } else {
        out = out || (through && beyond);
        behind = select(beyond, lower, behind);
      }
      return select(through, behind, beside);
    };
    const Int cx = lower_face(lane.place.x, width), cy = lower_face(lane.place.y, width),
              cz = lower_face(lane.place.z, width);
    const Int tx = target(x, lane.dx, lane.px, cx), ty = target(y, lane.dy, lane.py, cy),
              tz = target(z, lane.dz, lane.pz, cz);
    const auto found = find<V>(tx, ty, tz);
    const Mask moves = face && !out;
    const auto enter = [&](Mask through, V slope, V& offset, Int lower, Int there, Int& centre) THOR_INLINE_LAMBDA {
      const Int lower_there = there & (none - found.width), anchor = near_face(offset, lower) - lower_there;
      // From either face of the new leaf: exact from one that the old leaf has, too.
      const V from_lower = int_to_real<V>(anchor) + offset, from_upper = int_to_real<V>(anchor - found.width) + offset;
      const Mask is_lower = abs(from_lower) < abs(from_upper) || (abs(from_lower) == abs(from_upper) && offset > zero);
      V beside = select(is_lower, max(from_lower, face_offset), min(from_upper, -face_offset));
      // At the face exactly; one that leaves stays at the outer one.
      const V behind = select((slope > zero) == out, -face_offset, face_offset);
      offset = select(through, behind, select(moves, beside, offset));
      centre = select(moves, (lower_there << 1) + found.width, centre);
    };
    enter(x, lane.dx, lane.px, cx, tx, lane.place.x);
    enter(y, lane.dy, lane.py, cy, ty, lane.place.y);
    enter(z, lane.dz, lane.pz, cz, tz, lane.place.z);
    lane.place.leaf = select(moves, found.leaf, lane.place.leaf);
    Mask departs(false);
    if (is_part()) [[unlikely]]
      departs = moves && at_least<V>(found.leaf, data.held);
    return {face && out, departs};
  }

  /// The place of a lane `back` ago along its direction; in a periodic box the place in the box, not that of an image.
  template <class Lane>
  THOR_FN void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    const double place[3] = {lane.px, lane.py, lane.pz}, slope[3] = {lane.dx, lane.dy, lane.dz};
    const Int centre[3] = {lane.place.x, lane.place.y, lane.place.z};
    const double side = double(1 << data.depth);
    for (int k = 0; k < 3; ++k) {
      const Int width = width_of_leaf(centre[k]);
      double from_corner =
          (place[k] < 0 ? place[k] + double(width) : place[k]) - back * slope[k] + double(lower_face(centre[k], width));
      if (data.periodic) {
        const double turns = from_corner / side;
        from_corner -= (double(std::int64_t(turns)) - (turns < 0 ? 1 : 0)) * side;
      }
      position[k] = from_corner - double(data.zero[k]);
    }
  }

  // ---- The birth of a photon, one at a time: offsets are from the lower faces, and leaves those of the whole, until
  // ---- it settles.

  using One = IntOf<Real>;
  /// The leaf with this centre, or that holds this point.
  THOR_FN void put(auto& birth, One x, One y, One z) const {
    const auto found =
        has_births() ? whole().template find<Real>(x >> 1, y >> 1, z >> 1) : find<Real>(x >> 1, y >> 1, z >> 1);
    const auto centre = [&](One at) { return One(((at >> 1) & (0 - found.width)) * 2 + found.width); };
    birth.place = {found.leaf, centre(x), centre(y), centre(z)};
  }
  THOR_FN void place_point(auto& birth, const Real (&offset)[3], const int (&cell)[3]) const {
    birth.position = {offset[0], offset[1], offset[2]};
    put(birth, cell[0], cell[1], cell[2]);
  }
  /// Source i of a table: in its own leaf, or in leaf i; at its offset, or anywhere in the leaf.
  THOR_FN void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real> anywhere) const {
    if (table.place) {
      const std::int32_t* cell = table.place + 3 * index;
      put(birth, cell[0], cell[1], cell[2]);
    } else if (has_births()) {
      whole().put_leaf(birth, static_cast<std::int32_t>(index));
    } else {
      put_leaf(birth, static_cast<std::int32_t>(index));
    }
    const Real side = Real(width_of_leaf(birth.place.x));
    birth.position = {side * anywhere.x, side * anywhere.y, side * anywhere.z};
    if (table.offset) {
      const float* offset = table.offset + 3 * index;
      birth.position = {Real(offset[0]), Real(offset[1]), Real(offset[2])};
    }
  }
  /// A position from the origin of the coordinates becomes a leaf and an offset.
  THOR_FN void place_on_surface(auto& birth) const {
    const Real from_corner[3] = {birth.position.x + data.zero[0], birth.position.y + data.zero[1],
                                 birth.position.z + data.zero[2]};
    place_from_corner(birth, from_corner);
  }
  /// The same of a position from the corner of the box.
  template <class T>
  THOR_FN void place_from_corner(auto& birth, const T (&from_corner)[3]) const {
    const One last = (One(1) << data.depth) - 1;
    One at[3] = {};
    for (int k = 0; k < 3; ++k) {
      const One place = One(from_corner[k]);
      at[k] = 2 * (place < 0 ? 0 : place > last ? last : place);
    }
    put(birth, at[0], at[1], at[2]);
    const One centre[3] = {birth.place.x, birth.place.y, birth.place.z};
    Real* const offsets[3] = {&birth.position.x, &birth.position.y, &birth.position.z};
    for (int k = 0; k < 3; ++k) {
      const One width = width_of_leaf(centre[k]);
      *offsets[k] = Real(min(max(from_corner[k] - T(lower_face(centre[k], width)), T(0)), T(width)));
    }
  }
  /// From a point outside to where its ray enters, which is exactly on a face.
  THOR_FN void enter(auto& birth) const {
    const Vec3<Real> p = birth.position, d = birth.direction;
    const Real position[3] = {p.x, p.y, p.z}, slope[3] = {d.x, d.y, d.z}, root = Real(1 << data.depth);
    Real enters = 0, leaves = no_limit<Real>;
    int through = 0;
    for (int k = 0; k < 3; ++k) {
      const Real low = -data.zero[k] - position[k], high = low + root;
      const Real inverse = Real(1) / (abs(slope[k]) > Real(1e-20) ? slope[k] : Real(1e-20));
      const Real first = min(low * inverse, high * inverse);
      if (first > enters) enters = first, through = k;
      leaves = min(leaves, max(low * inverse, high * inverse));
    }
    birth.misses = enters > leaves;
    birth.position = along(p, enters, d);
    Real* const outer[3] = {&birth.position.x, &birth.position.y, &birth.position.z};
    const bool up = slope[through] > Real(0);
    *outer[through] = (up ? Real(0) : root) - data.zero[through];
    place_on_surface(birth);
    const One centre[3] = {birth.place.x, birth.place.y, birth.place.z};
    *outer[through] = up ? Real(0) : Real(width_of_leaf(centre[through]));
  }
  THOR_FN void settle(auto& birth, bool) const {
    const Real side = Real(width_of_leaf(birth.place.x));
    const auto nearer = [&](Real offset) {
      return offset > Real(0.5) * side ? min(offset - side, -at_face<Real>) : max(offset, at_face<Real>);
    };
    birth.position = {nearer(birth.position.x), nearer(birth.position.y), nearer(birth.position.z)};
    if (has_births()) birth.place.leaf = data.whole.it->part.to_part(std::int32_t(birth.place.leaf));
  }

  /// The leaf of a number: at most eight children are looked at on each level.
  THOR_FN void put_leaf(auto& birth, std::int32_t leaf) const {
    std::int32_t node = data.nodes.count > 0 ? 0 : -1, x = 0, y = 0, z = 0, width = 1 << data.depth;
    for (int level = 0; level < data.depth && node >= 0; ++level) {
      const std::int32_t* children = data.nodes.data + 8 * std::int64_t(node);
      int k = 7;
      while (k > 0 && (children[k] < 0 ? -1 - children[k] : data.firsts.data[children[k]]) > leaf) --k;
      node = children[k], width >>= 1;
      x += (k >> 2 & 1) * width, y += (k >> 1 & 1) * width, z += (k & 1) * width;
    }
    birth.place = {leaf, 2 * x + width, 2 * y + width, 2 * z + width};
  }

 private:
  /// Whether photons are born in a larger whole.
  THOR_FN bool has_births() const { return may_be_part && data.whole.it; }
  static THOR_FN Mask mask_of(Int below_zero) { return !at_least<V>(below_zero, 0); }
  THOR_FN auto whole() const { return OctreeView<decltype(Real() + 0.)>{{}, data.whole.it->tree}; }
};

template <class V>
THOR_FN OctreeView<V> view(const Octree<RealOf<V>>& data) {
  return {{}, data};
}
template <class V>
THOR_FN OctreeView<V, false> view(const WholeOctree<RealOf<V>>& data) {
  return {{}, data};
}

/// The place of the numbers of a leaf, for rays.
template <class V>
THOR_FN IntOf<V> number_of_cell(const Octree<RealOf<V>>&, const OctreePlace<V, IntOf<V>>& place) {
  return place.leaf;
}
/// The box that rays meet.
template <class Real>
THOR_FN void sides_of_box(const Octree<Real>& tree, double (&sides)[3]) {
  for (double& side : sides) side = double(1 << tree.depth);
}

}  // namespace THOR_ISA
}  // namespace thor
