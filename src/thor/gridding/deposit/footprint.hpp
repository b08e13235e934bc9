#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "thor/gridding/deposit/spline.hpp"

/// The cells that the kernel of one particle reaches, and their weights. Lengths are in cells, from the lower corner of
/// the grid; indices of cells outside it continue those inside.
namespace thor::gridding {

/// A kernel narrower than a cell is a point: everything goes to the cell that contains it. A wider one is evaluated at
/// the centres of cells, or of as many parts of each as make the distance of the samples at most half of the radius.
struct Footprint {
  std::array<std::int64_t, 3> first{}, last{};  ///< the cells [first, last)
  std::array<float, 3> start{};                 ///< offset from the particle to the first sample of the first cell
  float radius = 0;
  int samples = 1;  ///< number per cell along an axis; 0: a point
};

inline constexpr double narrowest = 0.5, coarsest_sampling = 0.5;

inline Footprint footprint(const double* position, double radius) {
  Footprint f;
  f.radius = float(radius);
  f.samples = radius < narrowest ? 0 : std::max(1, int(std::ceil(1 / (coarsest_sampling * radius))));
  for (std::size_t a = 0; a < 3; ++a) {
    const double reach = f.samples ? radius : 0;
    f.first[a] = std::int64_t(std::floor(position[a] - reach));
    f.last[a] = std::int64_t(std::floor(position[a] + reach)) + 1;
    f.start[a] = float(double(f.first[a]) - position[a] + (f.samples ? 0.5 / f.samples : 0));
  }
  return f;
}

struct Range {
  int begin = 0, end = 0;
};

/// Weights of the cells `asked` of the row at first + (i, j), counted from first; that of cell k is weight[k -
/// asked.begin]. Returns the range that is set; the other weights are 0.
inline Range row_weights(const Footprint& f, int i, int j, Range asked, float* weight) {
  if (f.samples == 0) {
    weight[0] = 1;
    return asked;
  }
  const float inverse = 1 / f.radius, r2 = f.radius * f.radius;
  if (f.samples == 1) {
    const float x = f.start[0] + float(i), y = f.start[1] + float(j), xy = x * x + y * y;
    if (!(xy < r2)) return {};
    const float half = std::sqrt(r2 - xy);
    const int begin = std::max(asked.begin, int(-half - f.start[2]));
    const int end = std::min(asked.end, int(half - f.start[2]) + 1);
    for (int k = begin; k < end; ++k) {
      const float z = f.start[2] + float(k);
      weight[k - asked.begin] = spline(std::sqrt(xy + z * z) * inverse);
    }
    return {begin, std::max(begin, end)};
  }
  std::fill(weight, weight + (asked.end - asked.begin), 0.f);
  const float step = 1 / float(f.samples);
  for (int a = 0; a < f.samples; ++a) {
    const float x = f.start[0] + float(i) + float(a) * step;
    for (int b = 0; b < f.samples; ++b) {
      const float y = f.start[1] + float(j) + float(b) * step, xy = x * x + y * y;
      if (!(xy < r2)) continue;
      for (int c = 0; c < f.samples; ++c) {
        const float first = f.start[2] + float(c) * step;
        for (int k = asked.begin; k < asked.end; ++k) {
          const float z = first + float(k);
          weight[k - asked.begin] += spline(std::sqrt(xy + z * z) * inverse);
        }
      }
    }
  }
  return asked;
}

}  // namespace thor::gridding
