#pragma once
#include "thor/datasets/cell_medium.hpp"
#include "thor/datasets/mesh_part.hpp"
#include "thor/datasets/ray_entry.hpp"
#include "thor/random/seed.hpp"

namespace thor {

/// The cells of sites: each holds the points that are nearer to its site than to any other. A position is a cell, the
/// offset from its site, and the distance to the nearest face, which is followed on its own: beside a face the offset
/// alone would be too coarse for mean free paths below 1e-7 of a cell.
///
/// A face is the plane m.p = 1 for an offset p, with m = 2 d/|d|^2 and d the way from the site to the one behind.
/// 1 - m.p is the distance to it, in halves of |d|; from behind the face is -m. The unit of length is the cube root of
/// the mean volume of a cell.
///
/// The faces of a cell are visited one by one, in as many lines of memory as the cell has. In the compact form only the
/// cells behind the faces are kept, and planes are made from the sites whenever a cell is met: the same numbers, in
/// single precision.
struct alignas(64) FourFaces {
  float x[4], y[4], z[4];  ///< of m; 0: there is no such face
  std::int32_t behind[4];  ///< the cell behind each; -1 to -6: the wall at -x, +x, -y, +y, -z, +z; no_face: none
};
inline constexpr std::int32_t no_face = -7;

/// The cells, in the order of a curve through space: neighbours are often near in memory, too.
struct VoronoiCellArrays {
  Array<std::int32_t> firsts;  ///< the first face of each cell, and the end of all; in lines, multiples of 4
  Array<FourFaces> lines;
  Array<std::int32_t> behind;  ///< the compact form, in place of the lines: what is behind each face
  Array<float> sites;          ///< from the corner of the box: x, y, z, and what is left of them; two more at the end
  Array<std::int32_t> table;   ///< a cell near the middle of each cube of a lattice over the box, x slowest
  int cubes;                   ///< of that lattice along each axis
  float box[6];                ///< its far corner, as a site

  static void for_each_field(auto f, auto&... d) {
    f(d.firsts...), f(d.lines...), f(d.behind...), f(d.sites...), f(d.table...), f(d.cubes...), f(d.box...);
  }
};

/// The whole mesh that a part belongs to.
struct VoronoiOfBirths {
  VoronoiCellArrays cells;
  CellsHeld part;
};

/// A part has the cells that it holds; what is behind its border has the numbers of CellsHeld. Photons are born on the
/// host, which has the whole.
template <class R>
struct Voronoi {
  using Real = R;
  GasRecords gas;
  CellPhysics<Real> physics;
  VoronoiCellArrays cells;
  bool twins;  ///< a cell may have two faces with the same cell behind them
  bool periodic;
  std::int32_t held;              ///< cells of a part; 0: this is the whole
  OnHost<VoronoiOfBirths> whole;  ///< that it is a part of
  double sides[3];                ///< of the box
  double zero[3];                 ///< where the origin of the coordinates lies, from the corner

  static void for_each_field(auto f, auto&... d) {
    f(d.gas...), f(d.physics...), f(d.cells...), f(d.twins...), f(d.periodic...), f(d.held...), f(d.whole...);
    f(d.sides...), f(d.zero...);
  }
};

/// One that is no part and has lines, for kernels that know no other.
template <class R>
struct WholeVoronoi : Voronoi<R> {};
template <class R>
struct WholeOf<Voronoi<R>> {
  using type = WholeVoronoi<R>;
};

inline namespace THOR_ISA {

/// The cell of a photon, what is behind the face that it is nearest to, and 1 - m.p for that face.
template <class R, class I>
struct VoronoiPlace {
  using Number = R;
  I cell, behind;
  R depth;

  static THOR_FN void for_each_field(auto f, auto&... p) { f(p.cell...), f(p.behind...), f(p.depth...); }
};

/// The way to the face ahead, and the face that is nearest now, by their numbers.
template <class V>
struct VoronoiSegment {
  V distance;
  IntOf<V> ahead, nearest;
  V depth;  ///< 1 - m.p of the nearest
  THOR_FN MaskOf<V> reaches(V s) const { return s >= distance; }
  THOR_FN V length() const { return distance; }
};

/// A site: twice as many bits as a number has.
template <class V>
struct VoronoiSite {
  Vec3<V> high, low;
};
THOR_FN VoronoiSite<float> voronoi_site(const float* six) {
  return {{six[0], six[1], six[2]}, {six[3], six[4], six[5]}};
}

/// From a site to another one, -1, 0 or 1 box further, along an axis. A box is taken from the one that is near its end,
/// which rounds nothing.
template <class V>
THOR_FN V way_along(V here_high, V here_low, V there_high, V there_low, V side_high, V side_low, V boxes) {
  const V zero(0.f), there = there_high + min(boxes, zero) * side_high, here = here_high - max(boxes, zero) * side_high;
  return (there - here) + (there_low - here_low + boxes * side_low);
}
/// The same to the nearest of its images in a periodic box; to twice the distance of a wall if that is behind.
template <class V>
THOR_FN V way_behind(int axis, V here_high, V here_low, V there_high, V there_low, V side_high, V side_low,
                     bool periodic, IntOf<V> behind) {
  const V zero(0.f), one(1.f);
  const V way = (there_high - here_high) + (there_low - here_low);
  if (periodic) {
    const V twice = way + way, boxes = select(twice > side_high, -one, select(twice + side_high < zero, one, zero));
    return way_along(here_high, here_low, there_high, there_low, side_high, side_low, boxes);
  }
  // A site in the wall is as good as one a little before it.
  const V least(1e-7f), low = max(here_high + here_low, least);
  const V high = max((side_high - here_high) + (side_low - here_low), least);
  const V to_wall = select(equal<V>(behind, -1 - 2 * axis), V(-2.f) * low,
                           select(equal<V>(behind, -2 - 2 * axis), V(2.f) * high, zero));
  return select(at_least<V>(behind, 0), way, to_wall);
}
template <class V>
THOR_FN Vec3<V> way_behind(const VoronoiSite<V>& here, const VoronoiSite<V>& there, const float (&box)[6],
                           bool periodic, IntOf<V> behind) {
  const auto along = [&](int axis, V a, V b, V c, V d) THOR_INLINE_LAMBDA {
    return way_behind(axis, a, b, c, d, V(box[axis]), V(box[3 + axis]), periodic, behind);
  };
  return {along(0, here.high.x, here.low.x, there.high.x, there.low.x),
          along(1, here.high.y, here.low.y, there.high.y, there.low.y),
          along(2, here.high.z, here.low.z, there.high.z, there.low.z)};
}
/// m of a face, for the way to the site behind it, or to the mirror image behind a wall.
template <class V>
THOR_FN Vec3<V> plane_across(Vec3<V> way) {
  return divide(V(2.f), way.x * way.x + (way.y * way.y + way.z * way.z)) * way;
}

template <class V, bool is_any = true>
struct VoronoiView : CellMedium<VoronoiView<V, is_any>, V> {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using One = IntOf<Real>;
  using Mask = MaskOf<V>;
  using Place = VoronoiPlace<V, Int>;
  using Segment = VoronoiSegment<V>;
  const Voronoi<Real>& data;

  /// The depth of a photon at a face.
  static constexpr Real at_face = Real(0x1p-50);
  /// A ray within 2^-21 of a plane does not cross it: then every crossing brings it nearer to its end in spite of
  /// rounding, and none can go round an edge for ever.
  static constexpr Real parallel = Real(0x1p-42);
  /// A place that is behind a plane by 1e-6 of its distance from the site is in another cell, which it enters at once.
  /// So do rays that have met the wrong one of two cells whose sites are so close to each other that the planes between
  /// them and a third one are the same to single precision.
  static constexpr Real behind_plane = Real(1e-12);
  /// What rounding leaves between an offset and the depth that is followed.
  static constexpr Real rounding = Real(1e-4);

  THOR_FN bool is_part() const { return is_any && data.held > 0; }
  THOR_FN bool is_compact() const { return is_any && data.cells.behind.count > 0; }
  /// The place of a lane; where it is behind the border, one that there is.
  THOR_FN Place held(const Place& place) const {
    if (!is_part()) [[likely]]
      return place;
    return place_or_first<V>(!at_least<V>(place.cell, data.held), place);
  }
  /// The gas where a photon begins. A ray of its birth may begin in another part, where light does not depend on it.
  template <class Birth>
  THOR_FN auto gas_at_birth(const Birth& birth) const {
    return this->at(held(birth.place));
  }
  /// Cells at the face of the box reach through it, so that rays do not end at a face of theirs.
  THOR_FN bool wraps() const { return data.periodic; }
  THOR_FN LaneAddress<V> record(const Place& place, unsigned stride) const {
    return lane_address<V>(__builtin_bit_cast(BitsOf<V>, place.cell), stride, BitsOf<V>(0u));
  }

  THOR_FN VoronoiSegment<V> segment(const Place& place, Vec3<V> p, Vec3<V> d) const {
    const V zero(Real(0));
    const Faces found = look<Look::ahead>(place, p, d, zero);
    return {max(divide(found.best, max(found.rate, V(Real(1e-30)))), zero), found.ahead, found.nearest, found.depth};
  }
  THOR_FN V nearest_face(const Place& place, Vec3<V> p) const {
    const V zero(Real(0));
    const Faces found = look<Look::around>(place, p, Vec3<V>{zero, zero, zero}, zero);
    return divide(found.best, sqrt(found.rate));
  }
  THOR_FN bool joins_equal_cells() const { return false; }
  template <class Lane>
  THOR_FN V room_in_equal_cells(const Lane&) const {
    return V(Real(0));
  }

  /// The depth below the nearest face is exact; the offset follows it.
  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const VoronoiSegment<V>& segment) const {
    follow(lane, s, segment.nearest, segment.depth, s);
  }
  template <class Lane>
  THOR_FN Mask leap(Lane& lane, V s) const {
    const Vec3<V> d{lane.dx, lane.dy, lane.dz};
    const Faces found = look<Look::within>(lane.place, along(Vec3<V>{lane.px, lane.py, lane.pz}, s, d), d, s);
    follow(lane, s, found.nearest, found.depth, V(Real(0)));
    return Mask(false);
  }

  template <class Lane>
  THOR_FN Passage<V> cross(Lane& lane, Mask face, const VoronoiSegment<V>& segment) const {
    const Face ahead = face_of(lane.place.cell, segment.ahead);
    const Vec3<V> m = ahead.m, p{lane.px, lane.py, lane.pz};
    const Int behind = ahead.behind;
    const Mask out = face && !at_least<V>(behind, 0), in = face && !out;
    // Onto the plane, and from the site behind it. One that was lost behind it stays where it is.
    const V off = V(Real(1)) - dot(m, p), mm = dot(m, m), zero(Real(0));
    const Mask stays = in && off * off > V(behind_plane) * dot(p, p) * mm;
    const V onto = select(stays, zero, off) - select(in, V(Real(2)), zero);
    place_at(lane, along(p, divide(onto, mm), m), face);
    lane.place.behind = select(in, lane.place.cell, lane.place.behind);
    lane.place.cell = select(in, behind, lane.place.cell);
    lane.place.depth = select(in, select(stays, max(-off, V(at_face)), V(at_face)), lane.place.depth);
    prefetch(held(lane.place));
    Mask departs(false);
    if (is_part()) [[unlikely]]
      departs = in && at_least<V>(behind, data.held);
    return {out, departs};
  }

  /// The place of a lane `back` ago along its direction; in a periodic box that in the box.
  template <class Lane>
  THOR_FN void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    const double p[3] = {lane.px, lane.py, lane.pz}, d[3] = {lane.dx, lane.dy, lane.dz};
    const std::int64_t cell = lane.place.cell, beyond = has_births() ? cell - data.held : -1;
    const float* const site = beyond < 0 ? data.cells.sites.data + 6 * cell : born().sites.data + 6 * beyond;
    for (int k = 0; k < 3; ++k) {
      double x = (double(site[k]) + double(site[3 + k])) + p[k] - back * d[k];
      if (data.periodic) {
        const double turns = x / data.sides[k];
        x -= (double(std::int64_t(turns)) - (turns < 0 ? 1 : 0)) * data.sides[k];
      }
      position[k] = x - data.zero[k];
    }
  }

  // ---- The birth of a photon, one at a time: in cells of the whole until it settles.

  THOR_FN void place_point(auto& birth, const Real (&offset)[3], const int (&cell)[3]) const {
    birth.position = {offset[0], offset[1], offset[2]};
    birth.place = {One(cell[0]), 0, 0};
  }
  /// Source i of a table: in its own cell, or in cell i; at its offset, or anywhere in the cell.
  THOR_FN void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real> anywhere) const {
    birth.place = {table.place ? One(table.place[3 * index]) : One(index), 0, 0};
    if (table.offset) {
      const float* offset = table.offset + 3 * index;
      birth.position = {Real(offset[0]), Real(offset[1]), Real(offset[2])};
    } else {
      birth.position = anywhere_in(birth.place.cell, anywhere);
    }
  }
  /// A position from the origin of the coordinates becomes a cell and an offset.
  THOR_FN void place_on_surface(auto& birth) const {
    const double from_corner[3] = {double(birth.position.x) + data.zero[0], double(birth.position.y) + data.zero[1],
                                   double(birth.position.z) + data.zero[2]};
    place_from_corner(birth, from_corner);
  }
  /// The same of a position from the corner of the box.
  THOR_FN void place_from_corner(auto& birth, const double (&from_corner)[3]) const {
    double offset[3];
    birth.place = {One(locate(from_corner, offset)), 0, 0};
    birth.position = {Real(offset[0]), Real(offset[1]), Real(offset[2])};
  }
  /// From a point outside to where its ray enters.
  THOR_FN void enter(auto& birth) const {
    const Vec3<Real> p = birth.position, d = birth.direction;
    const double position[3] = {double(p.x) + data.zero[0], double(p.y) + data.zero[1], double(p.z) + data.zero[2]};
    const double slope[3] = {d.x, d.y, d.z};
    const RayEntry entry = enter_box(position, data.sides, slope, 0);
    birth.misses = entry.misses;
    double at[3];
    for (int k = 0; k < 3; ++k) at[k] = position[k] + (entry.misses ? 0 : entry.at) * slope[k];
    place_from_corner(birth, at);
  }
  THOR_FN void settle(auto& birth, bool) const {
    Real depth(1), square(0);
    for_each_face(born(), birth.place.cell, [&](Vec3<Real> m, One behind) THOR_INLINE_LAMBDA {
      const Real here = max(Real(1) - dot(m, birth.position), at_face), mm = dot(m, m);
      if (here * here * square < depth * depth * mm) depth = here, square = mm, birth.place.behind = behind;
    });
    birth.place.depth = depth;
    if (!has_births()) return;
    const CellsHeld& part = data.whole.it->part;
    birth.place.cell = part.to_part(std::int32_t(birth.place.cell));
    if (birth.place.behind >= 0) birth.place.behind = part.to_part(std::int32_t(birth.place.behind));
  }

  /// The cell that holds a point from the corner of the box, and the point from its site. What is outside of the box is
  /// in the cell whose wall it is behind.
  THOR_FN std::int32_t locate(const double (&point)[3], double (&offset)[3]) const {
    const int n = born().cubes;
    int at[3];
    for (int k = 0; k < 3; ++k) {
      const double x = point[k] / data.sides[k] * n;
      at[k] = !(x > 0) ? 0 : x >= n ? n - 1 : int(x);
    }
    return locate_from(born().table.data[(std::int64_t(at[0]) * n + at[1]) * n + at[2]], point, offset);
  }
  /// From a cell to the one behind the face that the point is furthest beyond, and so on: each site is nearer to the
  /// point than the last, so that no cell is met twice.
  THOR_FN std::int32_t locate_from(std::int32_t cell, const double (&point)[3], double (&offset)[3]) const {
    for (int k = 0; k < 3; ++k) {
      const float* const site = born().sites.data + 6 * std::int64_t(cell) + k;
      offset[k] = point[k] - (double(site[0]) + double(site[3]));
      const double half = data.periodic ? 0.5 * data.sides[k] : 1e300;
      offset[k] += offset[k] > half ? -data.sides[k] : offset[k] < -half ? data.sides[k] : 0;
    }
    const std::int64_t cells = std::int64_t(born().firsts.count) - 1;
    for (std::int64_t steps = 0; steps < cells; ++steps) {
      std::int32_t through = -1;
      double least = -1e-12, m[3] = {};
      for_each_face(born(), cell, [&](Vec3<Real> face, One behind) THOR_INLINE_LAMBDA {
        const double n[3] = {face.x, face.y, face.z};
        const double depth = 1 - (n[0] * offset[0] + n[1] * offset[1] + n[2] * offset[2]);
        if (behind < 0 || !(depth < least)) return;
        least = depth, through = std::int32_t(behind);
        for (int k = 0; k < 3; ++k) m[k] = n[k];
      });
      if (through < 0) break;
      const double twice = 2 / (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
      for (int k = 0; k < 3; ++k) offset[k] -= twice * m[k];
      cell = through;
    }
    return cell;
  }

  /// use(m, what is behind it) for all faces of a cell, one by one, and some that are none (m = 0, behind < 0).
  template <class Use>
  THOR_FN void for_each_face(std::int64_t cell, const Use& use) const {
    for_each_face(data.cells, cell, use);
  }
  template <class Use>
  THOR_FN void for_each_face(const VoronoiCellArrays& cells, std::int64_t cell, const Use& use) const {
    for (std::int32_t face = cells.firsts.data[cell]; face < cells.firsts.data[cell + 1]; ++face) {
      std::int32_t behind;
      const Vec3<float> m = plane_of(cells, cell, face, behind);
      use(Vec3<Real>{Real(m.x), Real(m.y), Real(m.z)}, One(behind));
    }
  }

 private:
  /// Whether photons are born in a larger whole.
  THOR_FN bool has_births() const { return is_any && data.whole.it; }
  /// The cells in which photons are born.
  THOR_FN const VoronoiCellArrays& born() const { return has_births() ? data.whole.it->cells : data.cells; }

  struct Face {
    Vec3<V> m;
    Int behind;
  };
  THOR_FN Face face_of(Int cell, Int number) const {
    if (is_compact()) [[unlikely]]
      return made_face(site_of(cell), number);
    const auto address = lane_address<V>(__builtin_bit_cast(BitsOf<V>, number >> 2), 16,
                                         __builtin_bit_cast(BitsOf<V>, number & Int(One(3))));
    const float* const memory = data.cells.lines.data->x;
    const auto part = [&](int k) THOR_INLINE_LAMBDA {
      return gather(address, [=](std::int64_t i) THOR_INLINE_LAMBDA { return memory[i + k]; });
    };
    const V behind = gather(address, [=](std::int64_t i) THOR_INLINE_LAMBDA {
      return __builtin_bit_cast(Real, One(__builtin_bit_cast(std::int32_t, memory[i + 12])));
    });
    return {{part(0), part(4), part(8)}, __builtin_bit_cast(Int, to_bits(behind))};
  }
  enum class Look {
    within,  ///< which face is the nearest
    ahead,   ///< and which is ahead
    around   ///< how far the nearest is
  };
  /// Of each lane, the faces of its cell that are nearest: `depth` of all; `best`/`rate` ahead, or `best`^2/`rate`
  /// around. The nearest is the one of least depth, which is known worst.
  struct Faces {
    V best, rate, depth;
    Int ahead, nearest;
  };
  /// Of a point p that a place has become after the way `moved` along d.
  template <Look way>
  THOR_FN Faces look(const Place& place, Vec3<V> p, Vec3<V> d, V moved) const {
    const V zero(Real(0)), one(Real(1)), lost = V(behind_plane) * dot(p, p);
    Faces found{one, zero, V(no_limit<Real>), Int(0), Int(0)};
    const Int cell = held(place).cell;  // rays of an event may look from behind the border
    const auto visit = [&](Vec3<V> m, Int behind, Int number) THOR_INLINE_LAMBDA {
      const V towards = dot(m, d);
      // Known better for the face that is followed.
      V depth = one - dot(m, p), known = place.depth;
      if constexpr (way == Look::within) known = fma(-moved, towards, known);
      Mask is_followed = equal<V>(behind - place.behind, 0);
      if (data.twins) [[unlikely]]
        is_followed = is_followed && abs(depth - known) < V(rounding);
      depth = select(is_followed, known, depth);
      const Mask nearer = depth < found.depth;
      found.depth = select(nearer, depth, found.depth), found.nearest = select(nearer, number, found.nearest);
      if constexpr (way == Look::within) return;
      const V mm = dot(m, m);
      if constexpr (way == Look::ahead) {
        const Mask leads = towards > zero && towards * towards > V(parallel) * mm;
        const Mask beyond = depth < zero && depth * depth > lost * mm;
        const V speed = select(leads, towards, one);
        const Mask nears = (leads || beyond) && depth * found.rate < found.best * speed;
        found.best = select(nears, depth, found.best), found.rate = select(nears, speed, found.rate);
        found.ahead = select(nears, number, found.ahead);
      } else {
        depth = max(depth, V(at_face));
        const Mask nears = depth * depth * found.rate < found.best * found.best * mm;
        found.best = select(nears, depth, found.best), found.rate = select(nears, mm, found.rate);
      }
    };
    const Int first = first_face(cell, 0u), end = first_face(cell, 1u);
    if (is_compact()) [[unlikely]] {
      const VoronoiSite<V> here = site_of(cell);
      for (Int face = first;; face = face + Int(1)) {
        const Mask exists = at_least<V>(end - face, 1);
        if (!any(exists)) return found;
        const Int number = select(exists, face, first);
        const Face made = made_face(here, number);
        visit(made.m, made.behind, number);
      }
    }
    for (Int face = first;; face = face + Int(One(4))) {
      const Mask exists = at_least<V>(end - face, 1);
      if (!any(exists)) return found;
      const Int number = select(exists, face, first);
      const Lines lines = lines_at(number >> 2);
      visit(lines.m[0], lines.behind[0], number);
      visit(lines.m[1], lines.behind[1], number + Int(1));
      visit(lines.m[2], lines.behind[2], number + Int(One(2)));
      visit(lines.m[3], lines.behind[3], number + Int(One(3)));
    }
  }
  /// A face of a cell; sets what is behind it.
  THOR_FN Vec3<float> plane_of(const VoronoiCellArrays& cells, std::int64_t cell, std::int32_t face,
                               std::int32_t& behind) const {
    if (!is_any || cells.behind.count == 0) {
      const FourFaces& line = cells.lines.data[face >> 2];
      const int k = face & 3;
      behind = line.behind[k];
      return {line.x[k], line.y[k], line.z[k]};
    }
    behind = cells.behind.data[face];
    const float* const there = cells.sites.data + 6 * std::int64_t(behind < 0 ? 0 : behind);
    return plane_across(way_behind<float>(voronoi_site(cells.sites.data + 6 * cell), voronoi_site(there), cells.box,
                                          data.periodic, behind));
  }
  THOR_FN VoronoiSite<V> site_of(Int cell) const {
    const auto address = lane_address<V>(__builtin_bit_cast(BitsOf<V>, cell), 6, BitsOf<V>(0u));
    const Numbers<V> n{data.cells.sites.data, address};
    return {{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
  }
  /// The compact form: a face of the cell of a site.
  THOR_FN Face made_face(const VoronoiSite<V>& here, Int number) const {
    const Int behind = integer_at(data.cells.behind.data, number, 0u);
    const VoronoiSite<V> there = site_of(select(at_least<V>(behind, 0), behind, Int(0)));
    return {plane_across(way_behind<V>(here, there, data.cells.box, data.periodic, behind)), behind};
  }
  /// A line of each lane.
  struct Lines {
    Vec3<V> m[4];
    Int behind[4];
  };
  THOR_FN Lines lines_at(Int line) const {
    if constexpr (std::is_arithmetic_v<V>) {
      const FourFaces f = data.cells.lines.data[line];
      Lines lines;
      for (int k = 0; k < 4; ++k) lines.m[k] = {V(f.x[k]), V(f.y[k]), V(f.z[k])}, lines.behind[k] = Int(f.behind[k]);
      return lines;
    } else {
      const auto address = lane_address<V>(__builtin_bit_cast(BitsOf<V>, line), 16, BitsOf<V>(0u));
      const Numbers<V> low{data.cells.lines.data->x, address}, high{data.cells.lines.data->z, address};
      return {
          {{low[0], low[4], high[0]}, {low[1], low[5], high[1]}, {low[2], low[6], high[2]}, {low[3], low[7], high[3]}},
          {high.integer(4), high.integer(5), high.integer(6), high.integer(7)}};
    }
  }
  /// The first face of a cell, or of the next one.
  THOR_FN Int first_face(Int cell, unsigned next) const { return integer_at(data.cells.firsts.data, cell, next); }
  static THOR_FN Int integer_at(const std::int32_t* memory, Int place, unsigned more) {
    const auto address = lane_address<V>(__builtin_bit_cast(BitsOf<V>, place), 1, BitsOf<V>(more));
    return __builtin_bit_cast(Int, to_bits(gather(address, [=](std::int64_t i) THOR_INLINE_LAMBDA {
                                return __builtin_bit_cast(Real, One(memory[i]));
                              })));
  }
  /// Brings the faces of the cells of a pack from memory while the step goes on.
  THOR_FN void prefetch(const Place& place) const {
    if constexpr (!std::is_arithmetic_v<V>) {
      constexpr int lanes = Value<V>::lanes;
      One cell[lanes];
      store(place.cell, cell);
      for (int l = 0; l < lanes; ++l) {
        const std::int32_t first = data.cells.firsts.data[std::int64_t(cell[l])];
        if (is_compact()) [[unlikely]] {
          __builtin_prefetch(data.cells.behind.data + first);
        } else {
          for (int k = 0; k < 4; ++k) __builtin_prefetch(data.cells.lines.data + first / 4 + k);
        }
        __builtin_prefetch(data.gas.numbers.data + std::int64_t(cell[l]) * data.gas.stride);
      }
    }
  }
  /// A lane that does not move keeps its place to the last bit.
  /// `left`: how much of the way the depth does not know of.
  template <class Lane>
  THOR_FN void follow(Lane& lane, V s, Int face, V depth, V left) const {
    const V zero(Real(0));
    const Mask moves = s > zero;
    const Face near = face_of(lane.place.cell, face);
    const Vec3<V> m = near.m, d{lane.dx, lane.dy, lane.dz};
    depth = max(fma(-left, dot(m, d), depth), V(at_face));
    const Vec3<V> p = along(Vec3<V>{lane.px, lane.py, lane.pz}, s, d);
    const V error = V(Real(1)) - dot(m, p) - depth;
    const V by = divide(select(abs(error) < V(rounding), error, zero), dot(m, m));
    place_at(lane, along(p, by, m), moves);
    lane.place.behind = select(moves, near.behind, lane.place.behind);
    lane.place.depth = select(moves, depth, lane.place.depth);
  }
  template <class Lane>
  static THOR_FN void place_at(Lane& lane, Vec3<V> p, Mask where) {
    lane.px = select(where, p.x, lane.px), lane.py = select(where, p.y, lane.py), lane.pz = select(where, p.z, lane.pz);
  }

  /// A point anywhere in a cell, by a walk from its middle: along a random direction to a random point of the chord, as
  /// often as makes the start forgotten (hit and run, Smith 1984). `word` says which walk.
  THOR_FN Vec3<Real> anywhere_in(One cell, Vec3<Real> word) const {
    constexpr int away = 6, to_middle = 9, steps = 32;
    std::uint64_t seed = mix64(std::uint64_t(double(word.x) * 0x1p53) ^ mix64(std::uint64_t(double(word.y) * 0x1p53)) ^
                               std::uint64_t(double(word.z) * 0x1p53));
    const auto uniform = [&]() {
      seed = mix64(seed + 0x9e3779b97f4a7c15ull);
      return (Real(seed >> 41) + Real(0.5)) * Real(0x1p-23);
    };
    Vec3<Real> p{0, 0, 0};
    Shape shape = shape_at(cell, p);
    for (int i = 0; i < to_middle; ++i) {  // away from faces that are near, one scale after the other; then Newton's
      const Vec3<Real> d = i < away ? shape.slope() : shape.stretched(shape.solved());
      p = along(p, on_chord(cell, p, d, Real(0.5)), d);
      shape = shape_at(cell, p);
    }
    for (int i = 0; i < steps; ++i) {
      const Vec3<Real> d = shape.stretched({uniform() - Real(0.5), uniform() - Real(0.5), uniform() - Real(0.5)});
      p = along(p, on_chord(cell, p, d, uniform()), d);
    }
    return p;
  }
  /// Cells may be long or flat: directions have their shape. With q = m/(1 - m.p), the sum of q q^T over the faces is
  /// the second derivative H of a barrier, the sum of -ln(1 - m.p), whose first one is the sum of q; where that is 0 is
  /// a middle of the cell, and the ellipsoid of H around it has the shape of the cell (Dikin 1967, Dokl. Akad. Nauk
  /// SSSR 174, 747). H = L L^T, and L^-T u is long where the cell is.
  struct Shape {
    Vec3<double> sum;               ///< of q
    double xx, yx, yy, zx, zy, zz;  ///< L, with its diagonal inverted

    THOR_FN Vec3<Real> slope() const { return {Real(sum.x), Real(sum.y), Real(sum.z)}; }
    THOR_FN Vec3<Real> stretched(Vec3<Real> u) const {
      const double z = double(u.z) * zz, y = (double(u.y) - zy * z) * yy, x = (double(u.x) - yx * y - zx * z) * xx;
      return {Real(x), Real(y), Real(z)};
    }
    /// L^-1 of the slope.
    THOR_FN Vec3<Real> solved() const {
      const double x = sum.x * xx, y = (sum.y - yx * x) * yy, z = (sum.z - zx * x - zy * y) * zz;
      return {Real(x), Real(y), Real(z)};
    }
  };
  THOR_FN Shape shape_at(One cell, Vec3<Real> p) const {
    double xx(0), yy(0), zz(0), yx(0), zx(0), zy(0);
    Shape shape;
    shape.sum = {0, 0, 0};
    for_each_face(born(), cell, [&](Vec3<Real> m, One) THOR_INLINE_LAMBDA {
      const double by = 1 / double(max(Real(1) - dot(m, p), Real(1e-6)));
      const double x = double(m.x) * by, y = double(m.y) * by, z = double(m.z) * by;
      shape.sum = {shape.sum.x + x, shape.sum.y + y, shape.sum.z + z};
      xx += x * x, yy += y * y, zz += z * z, yx += y * x, zx += z * x, zy += z * y;
    });
    constexpr double least = 1e-13;  // of a square: less is rounding
    shape.xx = 1 / sqrt(xx), shape.yx = yx * shape.xx, shape.zx = zx * shape.xx;
    shape.yy = 1 / sqrt(max(yy - shape.yx * shape.yx, least * yy));
    shape.zy = (zy - shape.yx * shape.zx) * shape.yy;
    shape.zz = 1 / sqrt(max(zz - shape.zx * shape.zx - shape.zy * shape.zy, least * zz));
    return shape;
  }
  /// How many times d to go from p, for a place `share` of the way along the chord of the cell.
  THOR_FN Real on_chord(One cell, Vec3<Real> p, Vec3<Real> d, Real share) const {
    Real low(0), high(0);
    bool meets_low = false, meets_high = false;
    for_each_face(born(), cell, [&](Vec3<Real> m, One) THOR_INLINE_LAMBDA {
      const Real towards = dot(m, d), here = max(Real(1) - dot(m, p), Real(0));
      if (towards > Real(1e-20)) {
        const Real s = divide(here, towards);
        high = meets_high ? min(high, s) : s, meets_high = true;
      }
      if (towards < Real(-1e-20)) {
        const Real s = divide(here, towards);
        low = meets_low ? max(low, s) : s, meets_low = true;
      }
    });
    return fma(share, high - low, low);
  }
};

/// The place of the numbers of a cell, for rays, and the box that rays meet.
template <class V>
THOR_FN IntOf<V> number_of_cell(const Voronoi<RealOf<V>>&, const VoronoiPlace<V, IntOf<V>>& place) {
  return place.cell;
}
template <class Real>
THOR_FN void sides_of_box(const Voronoi<Real>& mesh, double (&sides)[3]) {
  for (int k = 0; k < 3; ++k) sides[k] = mesh.sides[k];
}

template <class V>
THOR_FN VoronoiView<V> view(const Voronoi<RealOf<V>>& data) {
  return {{}, data};
}
template <class V>
THOR_FN VoronoiView<V, false> view(const WholeVoronoi<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA
}  // namespace thor
