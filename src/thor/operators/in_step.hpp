#pragma once
#include "thor/operators/walk.hpp"

/// Rays in step with the cells of a grid (RayLattice). Those that are a whole number of cells apart cross faces at the
/// same heights. So the lanes of a pack share what their steps decide, and have only their cells for themselves.
namespace thor {

/// A lattice of parallel rays.
struct InStep {
  int axis = -1;         ///< in planes across it they are a lattice, along the next two axes; -1: they are not in step
  int per_cell[2] = {};  ///< rays along a side of a cell
  int first[2] = {};     ///< ray (i, j) meets the lower face of the grid at (first + (i, j) + 1/2)/per_cell, in cells
  double slope[2] = {};  ///< cells along the two axes, for one along `axis`
};

inline namespace THOR_ISA {

/// One of the axes of the lattice: cells of the lanes along it.
template <class V>
struct CellsAlong {
  using Int = IntOf<V>;
  const Int lane;                ///< cells from the first lane
  const int count, first, side;  ///< cells of the grid; that of the first lane at height 0; of a tile, less 1
  const Int near, far;           ///< places from cell to cell in a tile; and on average, from tile to tile
  const double at, slope, way;   ///< within a cell, at height 0 of the whole grid; change with height, and its inverse
  int cell = -(1 << 30);
  Int place{};
  MaskOf<V> inside{};

  /// Of the axis k, and s of the lattice.
  THOR_FN CellsAlong(const Scene<UniformGrid<RealOf<V>>>& scene, const InStep& step, int s, int k, int ray, Int lanes)
      : lane(lanes),
        count(scene.dataset.shape[k]),
        first(down(ray, step.per_cell[s]) - scene.first[k]),
        side((1 << scene.dataset.tile) - 1),
        near(Int(IntOf<RealOf<V>>(place_steps(scene.dataset, k).near))),
        far(Int(IntOf<RealOf<V>>(place_steps(scene.dataset, k).tile >> scene.dataset.tile))),
        at((ray - down(ray, step.per_cell[s]) * step.per_cell[s] + 0.5) / step.per_cell[s]),
        slope(step.slope[s]),
        way(slope > 0   ? 1 / slope
            : slope < 0 ? -1 / slope
                        : 0) {}

  static THOR_FN int down(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

  /// Where the first lane is at a height: its cell, and how much higher it leaves it.
  THOR_FN void meet(double height, int& in, double& leaves) const {
    const double x = at + slope * height;
    int c = int(x);
    if (double(c) > x) c = c - 1;
    const double offset = x - double(c);
    in = first + c;
    leaves = slope > 0 ? (1 - offset) * way : slope < 0 ? offset * way : 2;
  }
  THOR_FN void move(int to) {
    if (to == cell) return;
    cell = to;
    const Int i = lane + Int(to);
    inside = at_least<V>(i, 0) && !at_least<V>(i, count);
    const Int c = select(inside, i, Int(0));
    place = c * far + (c & Int(side)) * (near - far);
  }
  /// Cuts a range of heights to where one of the lanes may be in the grid.
  THOR_FN void cut(double lanes, double& low, double& high) const {
    const double x = at + first;
    if (slope == 0) {
      high = x > -lanes && x < count ? high : low;
      return;
    }
    const double a = (-lanes - x) / slope, b = (count - x) / slope;
    low = max(low, min(a, b)), high = min(high, max(a, b));
  }
};

/// Adds up what the rays of a pack find; the first of them is ray (i, j), and others are so many cells beside it, up to
/// `lanes` of them.
template <class V, class R, class Operator>
THOR_FN void follow_in_step(const Scene<UniformGrid<R>>& scene, const InStep& step, const double (&forward)[3], int i,
                            int j, IntOf<V> lanes_u, IntOf<V> lanes_v, int lanes, Operator& op) {
  using Int = IntOf<V>;
  const int w = step.axis, b = scene.dataset.tile;
  CellsAlong<V> u(scene, step, 0, (w + 1) % 3, step.first[0] + i, lanes_u);
  CellsAlong<V> v(scene, step, 1, (w + 2) % 3, step.first[1] + j, lanes_v);
  const Vec3<V> direction{V(R(forward[0])), V(R(forward[1])), V(R(forward[2]))};
  const double slant = sqrt(1 + u.slope * u.slope + v.slope * v.slope);  // length of a ray for one cell of height
  double low = scene.first[w], high = low + scene.dataset.shape[w];
  u.cut(lanes, low, high), v.cut(lanes, low, high);
  if (!(high > low)) return;
  const int below = int(low) - 1 - scene.first[w], above = int(high) + 2 - scene.first[w];
  const int begin = below > 0 ? below : 0, end = above < scene.dataset.shape[w] ? above : scene.dataset.shape[w];
  const auto along = place_steps(scene.dataset, w);
  for (int k = begin; k < end; ++k) {
    const double height = scene.first[w] + k;
    int cell_u, cell_v;
    double leaves_u, leaves_v;
    u.meet(height, cell_u, leaves_u), v.meet(height, cell_v, leaves_v);
    const double one = min(min(leaves_u, leaves_v), 1.), other = min(max(leaves_u, leaves_v), 1.);
    const Int layer(IntOf<R>((k >> b) * along.tile + (k & u.side) * along.near));
    const auto add = [&](double length) THOR_INLINE_LAMBDA {
      const auto inside = u.inside && v.inside;
      const CellPiece<V, UniformGrid<R>> piece{scene, u.place + v.place + layer, direction};
      op.add(piece, select(inside, V(R(length * slant)), V(R(0))), inside);
    };
    u.move(cell_u), v.move(cell_v);
    add(one);
    if (!(one < 1)) continue;
    const bool first_u = leaves_u < leaves_v;
    if (first_u) {
      u.move(cell_u + (u.slope > 0 ? 1 : -1));
    } else {
      v.move(cell_v + (v.slope > 0 ? 1 : -1));
    }
    add(other - one);
    if (!(other < 1)) continue;
    if (first_u) {
      v.move(cell_v + (v.slope > 0 ? 1 : -1));
    } else {
      u.move(cell_u + (u.slope > 0 ? 1 : -1));
    }
    add(1 - other);
  }
}

}  // namespace THOR_ISA
}  // namespace thor
