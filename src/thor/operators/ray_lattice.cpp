#include "thor/operators/ray_lattice.hpp"

#include <algorithm>
#include <cmath>

#include "thor/core/parallel_for.hpp"
#include "thor/datasets/cells.hpp"

namespace thor {
namespace {

/// Areas that are smaller are what rounding leaves: in pixels, or in squares of the lattice where these are smaller.
constexpr double least_area = 1e-12;

struct Interval {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void add(double x) { low = std::min(low, x), high = std::max(high, x); }
  /// To the squares that another one is in.
  void cut(const Interval& other) {
    low = std::max(low, std::floor(other.low)), high = std::min(high, std::ceil(other.high));
  }
};

/// Adds the first coordinates of what lies of a line between two values of the second.
void add_line(const std::array<double, 2>& a, const std::array<double, 2>& b, double low, double high, Interval& out) {
  const double from = std::clamp(low, std::min(a[1], b[1]), std::max(a[1], b[1]));
  const double to = std::clamp(high, std::min(a[1], b[1]), std::max(a[1], b[1]));
  if (from > high || to < low) return;
  if (a[1] == b[1]) return out.add(a[0]), out.add(b[0]);
  for (const double y : {from, to}) out.add(std::lerp(a[0], b[0], (y - a[1]) / (b[1] - a[1])));
}

/// A side of all pixels.
struct Side {
  double x, y, slope, rise;
  explicit Side(const std::array<double, 2>& step)
      : x(step[0]), y(step[1]), slope(y != 0 ? x / y : 0), rise(x != 0 ? std::abs(y / x) : 0) {}
};

/// The area that a pixel has of each square of a lattice, from the lines around it: each adds the area to its right.
class Shares {
 public:
  /// Of squares from (0, row) on.
  void begin(int columns, int row, int rows) {
    columns_ = columns, row_ = row, rows_ = rows;
    area_.assign(std::size_t(columns + 1) * std::size_t(rows), 0);
  }
  void add_line(double x, double y, const Side& side, double sign) {
    const double low = std::max(std::min(y, y + side.y), double(row_));
    const double high = std::min(std::max(y, y + side.y), double(row_ + rows_));
    if (!(high > low)) return;
    sign = side.y > 0 ? sign : -sign;
    double* area = area_.data() + std::size_t(int(low) - row_) * std::size_t(columns_ + 1);
    double from = low, x_from = x + (low - y) * side.slope;
    for (double next = double(int(low)) + 1; from < high; next += 1, area += columns_ + 1) {
      const double to = std::min(next, high), x_to = x + (to - y) * side.slope;
      const double left = std::min(x_from, x_to), right = std::max(x_from, x_to), height = sign * (to - from);
      add_in_row(area, left, right, height, sign * side.rise);
      from = to, x_from = x_to;
    }
  }
  /// Squares of a row.
  const double* row(int j) {
    double* const area = area_.data() + std::size_t(j - row_) * std::size_t(columns_ + 1);
    for (int i = 1; i < columns_; ++i) area[i] += area[i - 1];
    return area;
  }

 private:
  /// What is left of the height is the last part, so that it is all there where a line is almost upright.
  void add_in_row(double* area, double left, double right, double height, double rise) const {
    if (right < 0) {
      area[0] += height;
      return;
    }
    if (left < 0) area[0] -= left * rise, height += left * rise;
    const int first = int(std::clamp(left, 0., double(columns_))), last = int(std::min(right, columns_ - 1.));
    for (int i = first; i <= last; ++i) {
      const double begins = std::max(left, double(i)), ends = std::min(right, i + 1.);
      const double part = ends == right ? height : rise * (ends - begins), beside = part * (0.5 * (begins + ends) - i);
      area[i] += part - beside, area[i + 1] += beside;
      height -= part;
    }
  }

  std::vector<double> area_;
  int columns_ = 0, row_ = 0, rows_ = 0;
};

/// The axes of a lattice: the one closest to the direction of the rays, and the other two.
struct LatticeAxes {
  const double (&forward)[3];
  int along = 0, across[2] = {};
  double per_cell[2] = {};             ///< rays along a side of a cell
  std::array<double, 3> step[2] = {};  ///< from a ray to the next one, in the plane of the image

  LatticeAxes(const Camera& camera, int samples) : forward(camera.forward) {
    const double(&f)[3] = forward;
    for (int k = 1; k < 3; ++k) along = std::abs(f[k]) > std::abs(f[along]) ? k : along;
    for (std::size_t s = 0; s < 2; ++s) {
      const int k = across[s] = (along + 1 + int(s)) % 3;
      // Along an axis that rays do not cross nothing changes within a cell.
      const double side = std::sqrt(std::max(1 - f[k] * f[k], 0.));
      const double pixels = std::max(std::round(side / camera.pixel()), 1.);
      per_cell[s] = std::abs(f[k]) < 1e-9 ? 1 : samples * pixels;
      for (int i = 0; i < 3; ++i) step[s][std::size_t(i)] = ((i == k ? 1 : 0) - f[k] * f[i]) / per_cell[s];
    }
  }
  /// Where a vector in cells is in the lattice.
  std::array<double, 2> place(const double (&x)[3]) const {
    std::array<double, 2> p;
    for (std::size_t s = 0; s < 2; ++s) {
      p[s] = per_cell[s] * (x[across[s]] - forward[across[s]] / forward[along] * x[along]);
    }
    return p;
  }
  /// Whether rays can be followed in step. Others are followed one by one: lanes would be too far apart, or rays begin
  /// and end in a plane of the image.
  bool are_in_step(const Camera& camera) const {
    constexpr double most_per_cell = 4, unlimited = 1e9;
    const bool whole = camera.near <= -unlimited && camera.far >= unlimited;
    return whole && std::max(per_cell[0], per_cell[1]) <= most_per_cell;
  }
  double slope(std::size_t s) const {
    return std::abs(forward[across[s]]) < 1e-9 ? 0 : forward[across[s]] / forward[along];
  }
};

}  // namespace

RayLattice::RayLattice(const Camera& camera, const GridShape& shape, int samples)
    : camera_(camera), columns_(camera.columns) {
  const LatticeAxes axes(camera, samples);
  double corner_of_image[3], side[3], height[3], middle[3];
  for (int k = 0; k < 3; ++k) {
    side[k] = camera.pixel() * camera.right[k], height[k] = 2 * camera.half_height / camera.rows * camera.up[k];
    middle[k] = camera.position[k] - shape.origin[std::size_t(k)] / shape.cell_size;
    corner_of_image[k] = middle[k] - camera.half_width * camera.right[k] - camera.half_height * camera.up[k];
  }
  first_ = axes.place(corner_of_image), right_ = axes.place(side), up_ = axes.place(height);
  for (std::size_t i = 0; i < 8; ++i) {
    const double x[3] = {i & 1 ? double(shape.count[0]) : 0, i & 2 ? double(shape.count[1]) : 0,
                         i & 4 ? double(shape.count[2]) : 0};
    box_[i] = axes.place(x);
  }
  const Point centre = axes.place(middle);
  if (axes.are_in_step(camera)) in_step_.axis = axes.along;
  for (std::size_t s = 0; s < 2; ++s) {
    const auto [begin, count] = rays_along(s);
    if (in_step_.axis >= 0) {
      in_step_.per_cell[s] = int(axes.per_cell[s]), in_step_.first[s] = int(begin);
      in_step_.slope[s] = axes.slope(s);
    }
    first_[s] -= begin;
    for (Point& p : box_) p[s] -= begin;
    const std::array<double, 3>& step = axes.step[s];
    for (std::size_t k = 0; k < 3; ++k) camera_.position[k] += (begin + 0.5 * count - centre[s]) * step[k];
    const double length = std::hypot(step[0], step[1], step[2]);
    (s == 0 ? camera_.half_width : camera_.half_height) = 0.5 * count * length;
    (s == 0 ? camera_.columns : camera_.rows) = count;
    for (std::size_t k = 0; k < 3; ++k) (s == 0 ? camera_.right : camera_.up)[k] = step[k] / length;
  }
}

/// The rays along an axis of the lattice that both the image and the grid have: the first, and how many.
std::pair<double, int> RayLattice::rays_along(std::size_t s) const {
  const int columns = columns_, rows = camera_.rows;
  Interval seen, gas;
  for (const Point& p : {corner(0, 0), corner(columns, 0), corner(0, rows), corner(columns, rows)}) seen.add(p[s]);
  for (const Point& p : box_) gas.add(p[s]);
  seen.cut(gas);
  if (!(seen.high > seen.low)) return {0, 0};
  const double begin = std::floor(seen.low);
  return {begin, int(std::ceil(seen.high) - begin)};
}

ImageJob RayLattice::job_of(const ImageJob& image) const {
  ImageJob job = image;
  job.camera = camera_, job.samples = 1, job.in_step = in_step_;
  return job;
}

std::vector<ImageTile> RayLattice::tiles(int row, int rows) const {
  const Point corners[] = {corner(0, row), corner(columns_, row), corner(columns_, row + rows), corner(0, row + rows)};
  Interval high;
  for (const Point& p : corners) high.add(p[1]);
  const int begin = int(std::floor(std::clamp(high.low, 0., double(camera_.rows))));
  const int end = int(std::ceil(std::clamp(high.high, 0., double(camera_.rows))));
  // They follow the outline of the image, closely where that is narrow, and none is too large.
  const double area = std::abs(right_[0] * up_[1] - right_[1] * up_[0]) * columns_ * rows;
  const int fit = std::max(int(most_rays) / std::max(camera_.columns, 1), 1);
  for (int parts = 16;; parts *= 4) {
    const int some = std::clamp((end - begin) / parts, 1, fit);
    std::vector<ImageTile> out;
    double rays = 0;
    for (int j = begin; j < end; j += some) {
      const int last = std::min(j + some, end);
      Interval seen, gas;
      for (std::size_t i = 0; i < 4; ++i) add_line(corners[i], corners[(i + 1) % 4], j, last, seen);
      for (std::size_t i = 0; i < 8; ++i) {  // along edges of the grid
        for (std::size_t k = 1; k < 8; k *= 2) add_line(box_[i], box_[i ^ k], j, last, gas);
      }
      seen.cut(gas);
      if (!(seen.high > seen.low)) continue;
      const int first = std::clamp(int(std::floor(seen.low)), 0, camera_.columns);
      const int beyond = std::clamp(int(std::ceil(seen.high)), first, camera_.columns);
      if (beyond == first) continue;
      out.push_back({first, j, beyond - first, last - j});
      rays += double(out.back().pixels());
    }
    if (some == 1 || rays < 2 * area) return out;
  }
}

void RayLattice::average(std::span<const ImageTile> tiles, std::span<const double> found, int row, int rows,
                         std::span<double> pixels, int threads) const {
  if (tiles.empty()) return;
  /// Rays of a row of the lattice that have been traced.
  struct Found {
    const double* rays;
    int column, columns;
    std::size_t plane;
  };
  const int begin = tiles.front().row, end = tiles.back().row + tiles.back().rows;
  std::vector<Found> found_in(std::size_t(end - begin), {nullptr, 0, 0, 0});
  std::size_t all = 0, next = 0;
  for (const ImageTile& tile : tiles) all += tile.pixels();
  const std::size_t planes = found.size() / all, plane = std::size_t(columns_) * std::size_t(rows);
  for (const ImageTile& tile : tiles) {
    for (int j = 0; j < tile.rows; ++j) {
      found_in[std::size_t(tile.row + j - begin)] = {found.data() + next + std::size_t(j) * std::size_t(tile.columns),
                                                     tile.column, tile.columns, tile.pixels()};
    }
    next += planes * tile.pixels();
  }
  const double width = std::abs(right_[0]) + std::abs(up_[0]), height = std::abs(right_[1]) + std::abs(up_[1]);
  const double left = std::min(right_[0], 0.) + std::min(up_[0], 0.);
  const double down = std::min(right_[1], 0.) + std::min(up_[1], 0.);
  const double area = right_[0] * up_[1] - right_[1] * up_[0], over_area = 1 / std::abs(area);
  const double turn = area > 0 ? 1 : -1, least = least_area * std::min(std::abs(area), 1.);
  const Side right(right_), up(up_);
  const auto add_pixel = [&](Shares& shares, const Point& at, double* pixel) {
    const double x = at[0] + left, y = at[1] + down;
    if (x >= camera_.columns || y >= end || x + width <= 0 || y + height <= begin) return;
    // Squares of the lattice that the pixel meets. All is counted from the first of them, and not from a tile.
    const int i0 = int(std::max(x, 0.)), columns = int(std::min(x + width + 1, double(camera_.columns))) - i0;
    const int j0 = int(std::max(y, 0.)), j1 = std::max(begin, j0), j2 = int(std::min(y + height + 1, double(end)));
    shares.begin(columns, j1 - j0, j2 - j1);
    const double x0 = at[0] - i0, y0 = at[1] - j0;
    shares.add_line(x0, y0, right, -turn);
    shares.add_line(x0 + right.x, y0 + right.y, up, -turn);
    shares.add_line(x0 + up.x, y0 + up.y, right, turn);
    shares.add_line(x0, y0, up, turn);
    for (int j = j1; j < j2; ++j) {
      const double* const squares = shares.row(j - j0);
      const Found& line = found_in[std::size_t(j - begin)];
      const int from = std::max(line.column - i0, 0), to = std::min(line.column + line.columns - i0, columns);
      for (int i = from; i < to; ++i) {
        if (!(squares[i] > least)) continue;
        const double* const ray = line.rays + (i0 + i - line.column);
        for (std::size_t k = 0; k < planes; ++k) pixel[k * plane] += squares[i] * over_area * ray[k * line.plane];
      }
    }
  };
  parallel_for(threads, std::size_t(rows), 4, [&, shares = Shares()](std::size_t first, std::size_t last) mutable {
    for (std::size_t y = first; y < last; ++y) {
      for (int i = 0; i < columns_; ++i) {
        add_pixel(shares, corner(i, row + double(y)), &pixels[y * std::size_t(columns_) + std::size_t(i)]);
      }
    }
  });
}

}  // namespace thor
