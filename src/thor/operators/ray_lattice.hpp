#pragma once
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "thor/operators/image.hpp"

namespace thor {

struct GridShape;

/// Parallel rays through a grid, in step with its cells. One axis of the grid is the closest to their direction; in
/// every plane across it the rays are a lattice, with a whole number of them along each side of a cell. So at every
/// height there are equally many rays in each cell, and the lengths of the rays in a cell add up to its volume, for any
/// direction. A pixel is the average over its area of what the rays have found, each of which stands for the
/// parallelogram around it: no mass is lost or found between rays, as with rays through the middles of pixels.
class RayLattice {
 public:
  /// Of an orthographic camera, whose lengths are in cells. There are about `samples` rays along a side of a pixel, and
  /// one along a side of a cell at least.
  RayLattice(const Camera& camera, const GridShape& shape, int samples);

  /// A job whose pixels are the rays of the lattice.
  ImageJob job_of(const ImageJob& image) const;
  /// Rays of a rectangle, or of one row, at most.
  static constexpr double most_rays = 0x1p20;
  /// Rays that pixels in `rows` rows of the image from `row` on need, in rectangles one above the other.
  std::vector<ImageTile> tiles(int row, int rows) const;
  /// Adds to rows of pixels, the first of which is `row`, what the rays of such tiles have found, each plane after
  /// plane. A pixel adds its rays in the order of their rows, so that it makes no difference if tiles come one by one.
  void average(std::span<const ImageTile> tiles, std::span<const double> found, int row, int rows,
               std::span<double> pixels, int threads) const;

 private:
  using Point = std::array<double, 2>;  ///< in the lattice: ray (i, j) has the square from (i, j) to (i + 1, j + 1)
  Point corner(double column, double row) const {
    return {first_[0] + column * right_[0] + row * up_[0], first_[1] + column * right_[1] + row * up_[1]};
  }

  std::pair<double, int> rays_along(std::size_t axis) const;

  Camera camera_;  ///< with a pixel for each ray
  InStep in_step_;
  int columns_;               ///< of the image
  Point first_, right_, up_;  ///< the corner of the image, and sides of a pixel
  std::array<Point, 8> box_;  ///< corners of the grid
};

}  // namespace thor
