#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "thor/datasets/voronoi_exact.hpp"

namespace thor {

/// Four numbers side by side. In memory alignas(32): without AVX they ask for 16.
using VoronoiFour [[gnu::vector_size(32)]] = double;

/// A face as one of its two cells sees it.
struct VoronoiSide {
  double area;
  std::int32_t cell;  ///< neighbour, or -1 to -6: the wall at -x, +x, -y, +y, -z, +z
  std::int8_t image;  ///< 9 x + 3 y + z of the shifts of the neighbour by -1, 0 or 1 box; - image is the way back
  bool narrow;        ///< no wider than the rounding of coordinates
  bool is_kept = true;
};

/// A convex cell around a site, cut by one half-space after the other. All coordinates are relative to the site, and
/// those of other sites are whole numbers below 2^53, so that it can be decided exactly which vertices a plane cuts
/// off: first in double precision with a bound of its errors, and where that does not tell, in whole numbers. A vertex
/// that lies on the plane stays. Thus what is cut off is always connected, and so is what stays, whatever number of
/// planes meet in a point: a vertex of more than three planes is a tree of vertices of three each, at the same place.
///
/// Vertices are triples of planes (Ray et al. 2018, ACM Trans. Graph. 37, 265), with links to their three neighbours.
class VoronoiCell {
 public:
  /// The box from -low to high, of which `cell` is the only one.
  void start_open(const std::array<double, 3>& low, const std::array<double, 3>& high);
  /// The box between the site and its own images.
  void start_periodic(std::int32_t cell, const std::array<double, 3>& sides);

  /// Cuts off what is nearer to a site at d; false if that is nothing.
  bool clip(const std::array<double, 3>& d, std::int32_t cell, std::int8_t image);

  /// Sites at a squared distance above this cannot cut: four times that of the farthest vertex.
  double security2() const { return 4 * far2_; }
  /// Whether a site in a box could cut: whether the box is nearer to a vertex than this site.
  bool could_cut(const std::array<double, 3>& centre, const std::array<double, 3>& half) const;

  /// Appends the faces and returns the volume.
  double measure(std::vector<VoronoiSide>& sides) const;

 private:
  struct Plane {
    std::array<double, 3> n;  // n.x <= c
    double c, length;         // length of n
    std::int32_t cell;
    std::int8_t image;
  };
  struct FourPlanes;
  /// A right-handed triple of planes, and the vertices at the other ends of the three edges: next[k] shares the planes
  /// other than plane[k].
  struct Corner {
    std::array<std::int32_t, 3> plane, next;
  };
  /// Where four vertices are.
  struct alignas(32) Block {
    VoronoiFour x, y, z;
    VoronoiFour slack;   // four times the error of a coordinate
    VoronoiFour reach2;  // squared distance from the site, more than the error larger than it is
  };
  struct alignas(32) FourOver {
    VoronoiFour of;
  };
  /// An edge that a plane cuts: its planes, and the end of it that stays.
  struct Cut {
    std::int32_t left, right, kept;
  };

  void start(const std::array<Plane, 6>& planes);
  void reserve(std::size_t vertices);
  ExactPlane exact(const Plane& plane) const;
  bool is_cut_off(std::size_t vertex, const Plane& plane) const;
  bool find_cut_off(const Plane& plane);
  void find_ring();
  void close_ring();
  void remove_rest();
  void place_vertices(const std::size_t* places, std::size_t count);
  void place_exactly(std::size_t vertex);
  void store(std::size_t vertex, const std::array<double, 3>& v, double slack);
  void end_blocks();
  std::array<double, 3> at(std::size_t vertex) const;
  std::size_t next_around(std::size_t vertex, std::int32_t plane) const;
  VoronoiSide measure_face(std::int32_t plane, std::size_t first) const;

  std::vector<Plane> planes_;  // also those that have no vertex left
  std::vector<Corner> corners_;
  std::vector<Block> blocks_;         // of vertices; those behind the last one are never cut off
  std::vector<FourOver> excess_;      // of vertices over a plane, in which the greatest error is included
  std::vector<std::uint8_t> is_off_;  // whether a vertex is cut off by the plane at hand
  std::vector<std::size_t> off_;      // those, and places for new vertices behind them
  std::size_t count_off_ = 0;
  std::vector<Cut> ring_;               // edges that are cut
  std::vector<std::int32_t> start_at_;  // of a plane: the new vertex whose first edge is on it
  std::size_t size_ = 0;                // vertices
  double far2_ = 0;
};

}  // namespace thor
