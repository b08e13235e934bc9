#pragma once
#include <type_traits>

#include "thor/datasets/meshless.hpp"
#include "thor/datasets/ray_entry.hpp"
#include "thor/generators/source.hpp"
#include "thor/math/lookup.hpp"
#include "thor/operators/scene.hpp"
#include "thor/transport/march.hpp"

/// The way of straight rays through a dataset, cell by cell: next(scene, use) calls use(piece, length) with the gas of
/// the piece ahead and moves to the one behind it. A ray that has ended adds pieces of no length. All that stays the
/// same along a ray is computed once, at its start, which is what makes it cheaper than the flight of a photon.
namespace thor {
inline namespace THOR_ISA {

/// Gas of a cell.
template <class V, class D>
struct CellPiece {
  const Scene<D>& scene;
  IntOf<V> place;  ///< of its numbers
  Vec3<V> direction;

  THOR_FN V field(int k) const { return lookup<V>(scene.fields[k].data, place); }
  THOR_FN V value(const FieldProduct& q) const {
    V v(RealOf<V>(1));
    if (q.field >= 0) v = field(q.field);
    if (q.velocity >= 0) {
      v = v * dot(direction, Vec3<V>{field(q.velocity), field(q.velocity + 1), field(q.velocity + 2)});
    }
    return v;
  }
};

/// In a grid a ray keeps its distance to the next face across each axis (Amanatides & Woo 1987), counted from that face
/// and not from its start, so that it is as exact after a thousand cells as in the first. A cell is its place in
/// memory: the neighbour across an axis is `within` further, or `beyond` where that is in the next tile.
template <class V>
struct GridWalk {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  Vec3<V> to_face, between;  ///< distances to the next face and between faces, across each axis
  Vec3<V> direction;
  V left;                            ///< length; 0: the ray has ended
  Int place;                         ///< of the cell
  Int within_x, within_y, within_z;  ///< steps to the next cell across each axis
  Int beyond_x, beyond_y, beyond_z;
  Int to_x, to_y, to_z;  ///< faces up to the one through which it leaves

  static THOR_FN void for_each_field(auto f, auto&&... w) {
    f(w.to_face.x...), f(w.to_face.y...), f(w.to_face.z...), f(w.between.x...), f(w.between.y...), f(w.between.z...);
    f(w.direction.x...), f(w.direction.y...), f(w.direction.z...), f(w.left...), f(w.place...);
    f(w.within_x...), f(w.within_y...), f(w.within_z...), f(w.beyond_x...), f(w.beyond_y...), f(w.beyond_z...);
    f(w.to_x...), f(w.to_y...), f(w.to_z...);
  }

  THOR_FN MaskOf<V> goes() const { return left > V(Real(0)); }
  THOR_FN void end(MaskOf<V> where) { left = select(where, V(Real(0)), left); }

  template <class Use>
  THOR_FN void next(const Scene<UniformGrid<Real>>& scene, const Use& use) {
    const V zero(Real(0));
    const Int none(0), one(1);
    const CellPiece<V, UniformGrid<Real>> piece{scene, place, direction};
    const auto live = goes();
    const V face = min(to_face.x, min(to_face.y, to_face.z));
    const V s = min(face, left);
    const auto across_x = to_face.x <= face, across_y = !across_x && to_face.y <= face;
    const auto moves_x = across_x && live, moves_y = across_y && live, moves_z = !across_x && !across_y && live;
    to_face.x = select(across_x, between.x, to_face.x - s), to_face.y = select(across_y, between.y, to_face.y - s);
    to_face.z = select(across_x || across_y, to_face.z - s, between.z);
    to_x = to_x - select(moves_x, one, none), to_y = to_y - select(moves_y, one, none);
    to_z = to_z - select(moves_z, one, none);
    const auto leaves = equal<V>(to_x, 0) || equal<V>(to_y, 0) || equal<V>(to_z, 0);
    // The bits of the place within a tile: two for each axis. A step that changes others leaves the tile.
    const int b = scene.dataset.tile, side = (1 << b) - 1;
    const Int step = select(moves_x, within_x, select(moves_y, within_y, within_z));
    const Int jump = select(moves_x, beyond_x, select(moves_y, beyond_y, beyond_z));
    const Int others = select(moves_x, Int(~(side << (2 * b))), select(moves_y, Int(~(side << b)), Int(~side)));
    const Int ahead = place + step;
    const auto stays = equal<V>((place ^ ahead) & others, 0);
    place = select(live && !leaves, select(stays, ahead, place + jump), place);
    left = select(leaves, zero, left - s);
    use(piece, select(live, s, zero));
  }
};

/// Places from one cell to the next along an axis, within a tile, and from a tile to the next.
struct PlaceSteps {
  std::int64_t near, tile;
};
template <class Real>
THOR_FN PlaceSteps place_steps(const UniformGrid<Real>& grid, int axis) {
  std::int64_t tile = std::int64_t(1) << (3 * grid.tile);
  if (axis < 2) tile = tile * grid.tiles[2];
  if (axis < 1) tile = tile * grid.tiles[1];
  return {std::int64_t(1) << ((2 - axis) * grid.tile), tile};
}

/// A ray at its first cell, one at a time. It lies in the cells whose lower faces it is on. `begins`: where along the
/// ray that is.
template <class Real>
THOR_FN GridWalk<Real> start_grid_walk(const Scene<UniformGrid<Real>>& scene, const StraightRay& ray, double& begins) {
  using Int = IntOf<Real>;
  const auto& grid = scene.dataset;
  constexpr double endless = 1e10;
  double from = ray.from, to = ray.to;
  bool misses = false;
  int through = -1;  // the axis across whose face it enters
  double at[3], inverse[3];
  for (int k = 0; k < 3; ++k) {
    // In double precision, and the same for all parts of a grid up to a whole number: no face is in two of them.
    at[k] = (ray.position[k] + scene.zero[k]) - double(scene.first[k]);
    const double d = ray.direction[k], n = grid.shape[k];
    const bool crosses = d > 1e-9 || d < -1e-9;
    inverse[k] = crosses ? 1 / d : 0;
    if (!crosses) {
      misses = misses || !(at[k] >= 0 && at[k] < n);
      continue;
    }
    const double low = -at[k] * inverse[k], high = (n - at[k]) * inverse[k];
    const double enters = d > 0 ? low : high, exits = d > 0 ? high : low;
    if (enters > from) from = enters, through = k;
    to = min(to, exits);
  }
  begins = from;
  GridWalk<Real> walk{};
  walk.left = misses || !(to > from) ? Real(0) : Real(ray.to < 1e9 ? to - from : endless);
  Real* const distance[3] = {&walk.to_face.x, &walk.to_face.y, &walk.to_face.z};
  Real* const between[3] = {&walk.between.x, &walk.between.y, &walk.between.z};
  Real* const direction[3] = {&walk.direction.x, &walk.direction.y, &walk.direction.z};
  Int* const within[3] = {&walk.within_x, &walk.within_y, &walk.within_z};
  Int* const beyond[3] = {&walk.beyond_x, &walk.beyond_y, &walk.beyond_z};
  Int* const faces[3] = {&walk.to_x, &walk.to_y, &walk.to_z};
  const int b = grid.tile;
  Int cell[3];
  for (int k = 0; k < 3; ++k) {
    const double d = ray.direction[k];
    const int n = grid.shape[k];
    double x = at[k] + from * d;
    if (k == through) x = d > 0 ? 0 : n;
    x = min(max(x, 0.), double(n));
    Int c = Int(x);                                   // rounded down
    if (inverse[k] < 0 && double(c) == x) c = c - 1;  // on a face, and going down
    c = c < 0 ? 0 : c >= n ? n - 1 : c;
    cell[k] = c;
    // Places from one cell to the next, and from the last cell of a tile to the first of the next one.
    const PlaceSteps steps = place_steps(grid, k);
    const Int near = Int(steps.near), far = Int(steps.tile) - ((Int(1) << b) - 1) * near;
    const bool down = inverse[k] < 0;
    *within[k] = down ? -near : near, *beyond[k] = down ? -far : far;
    *direction[k] = Real(d);
    *faces[k] = down ? c + 1 : Int(n) - c;
    const double way = down ? x - double(c) : double(c + 1) - x, slope = inverse[k] < 0 ? -inverse[k] : inverse[k];
    *between[k] = inverse[k] == 0 ? Real(endless) : Real(slope);
    *distance[k] = inverse[k] == 0 ? Real(endless) : Real(max(way, 0.) * slope);
  }
  walk.place = Int(cell_address<Real>(grid, cell[0], cell[1], cell[2], 1).of[0]);
  return walk;
}

/// What a step asks of a line, for rays that have none: they take the shortest sub-steps.
template <class V>
struct NoLine {
  THOR_FN V detuning(V) const { return V(RealOf<V>(0)); }
};

/// Gas of a segment or sub-step of a model, at its middle.
template <class V, class D>
struct ModelPiece {
  const Scene<D>& scene;
  V opacity, velocity;

  THOR_FN V field(int k) const {
    const auto& f = scene.fields[k];
    V v(f.scale);
    if (f.logarithmic) {
      v = v * log(max(opacity, V(RealOf<V>(1e-30))));
    } else {
      if (f.power > 0) v = v * opacity;
      if (f.power > 1) v = v * opacity;
    }
    return v + V(f.offset);
  }
  THOR_FN V value(const FieldProduct& q) const {
    V v(RealOf<V>(1));
    if (q.field >= 0) v = field(q.field);
    if (q.velocity >= 0) v = v * V(scene.speed) * velocity;
    return v;
  }
};

/// The place of the numbers of a cell.
template <class V>
THOR_FN IntOf<V> number_of_cell(const UniformGrid<RealOf<V>>& grid, const GridPlace<V, IntOf<V>>& cell) {
  using Int = IntOf<V>;
  const auto along = [&](Int i, int axis) THOR_INLINE_LAMBDA {
    using One = IntOf<RealOf<V>>;
    const PlaceSteps steps = place_steps(grid, axis);
    const Int near(One(steps.near)), far(One(steps.tile >> grid.tile));
    return i * far + (i & Int((1 << grid.tile) - 1)) * (near - far);
  };
  return along(cell.x, 0) + along(cell.y, 1) + along(cell.z, 2);
}
template <class Real>
THOR_FN void sides_of_box(const UniformGrid<Real>& grid, double (&sides)[3]) {
  for (int k = 0; k < 3; ++k) sides[k] = grid.shape[k];
}

/// The way through any dataset, from face to face as photons go: through regions and sub-steps of a model, or through
/// cells, of which number_of_cell() says where their fields are, and sides_of_box() where rays meet them.
template <class V, class D>
struct MeshWalk {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  V px, py, pz, dx, dy, dz, left;
  typename decltype(view<V>(std::declval<const D&>()))::Place place;
  Int segments;

  static THOR_FN void for_each_field(auto f, auto&&... w) {
    f(w.px...), f(w.py...), f(w.pz...), f(w.dx...), f(w.dy...), f(w.dz...), f(w.left...), f(w.segments...);
    decltype(place)::for_each_field(f, w.place...);
  }

  THOR_FN MaskOf<V> goes() const { return left > V(Real(0)); }
  THOR_FN void end(MaskOf<V> where) { left = select(where, V(Real(0)), left); }

  template <class Use>
  THOR_FN void next(const Scene<D>& scene, const Use& use) {
    const auto dataset = view<V>(scene.dataset);
    const Vec3<V> p{px, py, pz}, d{dx, dy, dz};
    if constexpr (IsModel<D>) {
      const auto here = dataset.here(*this);
      const auto segment = dataset.segment(place, p, d);
      const Leg<V> leg = dataset.leg(here, p, d, segment, V(Real(0)), NoLine<V>());
      go(dataset, segment, leg.limit,
         ModelPiece<V, D>{scene, dataset.opacity(here, leg.middle), dataset.velocity_along(here, leg.middle, d)}, use);
    } else {
      const auto segment = dataset.segment(place, p, d);
      go(dataset, segment, segment.length(), CellPiece<V, D>{scene, number_of_cell<V>(scene.dataset, place), d}, use);
    }
  }

 private:
  THOR_FN void go(const auto& dataset, const auto& segment, V limit, const auto& piece, const auto& use) {
    const auto live = goes();
    const V s = select(live, min(limit, left), V(Real(0)));
    left = left - s;
    dataset.advance(*this, s, segment);
    auto leaves = live;
    if constexpr (std::remove_cvref_t<decltype(dataset)>::substeps) {
      leaves = dataset.cross(*this, live && goes() && segment.reaches(limit), segment).leaves;
    }
    segments = segments + Int(1);
    end(leaves || at_least<V>(segments, most_segments));
    use(piece, s);
  }
};

template <class D>
THOR_FN MeshWalk<typename D::Real, D> start_mesh_walk(const Scene<D>& scene, const StraightRay& ray, double& begins) {
  using Real = typename D::Real;
  const auto dataset = view<Real>(scene.dataset);
  Birth<Real, PlaceIn<D>> birth{};
  [[maybe_unused]] double leaves = 1e300;
  birth.direction = {Real(ray.direction[0]), Real(ray.direction[1]), Real(ray.direction[2])};
  if constexpr (IsModel<D>) {
    const RayEntry entry = enter_model(scene.dataset, ray.position, ray.direction, ray.from);
    begins = entry.outside ? entry.at : ray.from;
    birth.misses = entry.outside && entry.misses;
    birth.position = {Real(ray.position[0] + begins * ray.direction[0]),
                      Real(ray.position[1] + begins * ray.direction[1]),
                      Real(ray.position[2] + begins * ray.direction[2])};
    birth.place.cell = gas;  // at its surface, if it comes from outside
    if (!entry.outside) dataset.settle(birth, false);
  } else {
    // From the corner and in double precision: a box may be more cells wide than a float has digits for.
    double at[3], sides[3];
    sides_of_box(scene.dataset, sides);
    for (int k = 0; k < 3; ++k) at[k] = ray.position[k] + scene.zero[k];
    const RayEntry entry = enter_box(at, sides, ray.direction, ray.from);
    begins = entry.at, leaves = entry.leaves, birth.misses = entry.misses;
    for (int k = 0; k < 3; ++k) at[k] = at[k] + begins * ray.direction[k];
    dataset.place_from_corner(birth, at), dataset.settle(birth, false);
  }
  double most = min(ray.to - begins, 1e9);
  if constexpr (requires { dataset.wraps(); }) most = dataset.wraps() ? min(most, leaves - begins) : most;
  MeshWalk<Real, D> walk{};
  walk.px = birth.position.x, walk.py = birth.position.y, walk.pz = birth.position.z;
  walk.dx = birth.direction.x, walk.dy = birth.direction.y, walk.dz = birth.direction.z;
  walk.place = birth.place;
  walk.left = birth.misses || !(most > 0) ? Real(0) : Real(most);
  return walk;
}

/// The way of rays through a scene S: a grid has a faster one.
template <class V, class S>
using WalkOf = std::conditional_t<is_lattice<typename S::Dataset>, GridWalk<V>, MeshWalk<V, typename S::Dataset>>;
template <class D>
THOR_FN auto start_walk(const Scene<D>& scene, const StraightRay& ray, double& begins) {
  if constexpr (is_lattice<D>) {
    return start_grid_walk(scene, ray, begins);
  } else {
    return start_mesh_walk(scene, ray, begins);
  }
}

/// Rays of the lanes of a pack, put together one by one.
template <class V, class S>
struct Walks {
  using One = WalkOf<RealOf<V>, S>;
  static constexpr int lanes = Value<V>::lanes, most = 12;
  RealOf<V> reals[most][lanes];
  IntOf<RealOf<V>> ints[most][lanes];

  THOR_FN void set(int lane, const One& ray) {
    int r = 0, i = 0;
    One::for_each_field(
        [&]<class T>(const T& field) THOR_INLINE_LAMBDA {
          if constexpr (std::is_floating_point_v<T>) {
            reals[r++][lane] = field;
          } else {
            ints[i++][lane] = field;
          }
        },
        ray);
  }
  THOR_FN WalkOf<V, S> pack() const {
    WalkOf<V, S> walk;
    int r = 0, i = 0;
    WalkOf<V, S>::for_each_field(
        [&]<class T>(T& field) THOR_INLINE_LAMBDA {
          if constexpr (std::is_same_v<T, V>) {
            field = load<V>(reals[r++]);
          } else {
            field = load<IntOf<V>>(ints[i++]);
          }
        },
        walk);
    return walk;
  }
};

}  // namespace THOR_ISA
}  // namespace thor
