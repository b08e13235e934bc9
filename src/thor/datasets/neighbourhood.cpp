#include "thor/datasets/neighbourhood_sheet.hpp"

#include <algorithm>
#include <cmath>

#include "thor/core/interrupt.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {
namespace {

constexpr double step_of_length = 0x1p-15;                            ///< [cells]
constexpr std::array<Length, 4> distance_of{0, 32768, 46341, 56756};  ///< 1, sqrt(2), sqrt(3)

/// l_j: the gas of a cell compared with that of its six neighbours.
double gradient_scale(const Cells& cells, const Sheet& sheet, const CellIndex& index) {
  const auto [nx, ny, nz] = sheet.count;
  const std::int64_t step[3] = {ny * nz, nz, 1}, i = index[0] * step[0] + index[1] * step[1] + index[2];
  const CellGas<double> g = cells.gas(i);
  double change = 0;  // per cell, of rho downwards and of v, in units of rho and v_th
  for (std::size_t k = 0; k < 3; ++k) {
    for (const int side : {-1, 1}) {
      std::int64_t next = index[k] + side;
      if (next < 0 || next >= sheet.count[k]) {
        if (!sheet.wraps[k]) {
          change = 1;
          continue;
        }
        next = (next + sheet.count[k]) % sheet.count[k];
      }
      const CellGas<double> other = cells.gas(i + (next - index[k]) * step[k]);
      const double here = g.opacity / g.inverse_width, there = other.opacity / other.inverse_width;
      change = std::max(change, (here - there) / std::max(here, 1e-30));
      const double jump =
          std::hypot(other.velocity.x - g.velocity.x, other.velocity.y - g.velocity.y, other.velocity.z - g.velocity.z);
      change = std::max(change, jump * g.inverse_width);
    }
  }
  return std::max(0.5, 1 / std::max(change, 1e-10) - 0.5);
}

/// row[z] = min(row[z], other[z + side] + distance). Whether any has become less.
bool lower(std::span<Length> row, std::span<const Length> other, int side, Length distance, bool wraps) {
  const auto n = std::int64_t(row.size());
  bool lowered = false;
  const auto one = [&](std::int64_t z, std::int64_t from) {
    const Length before = row[std::size_t(z)], now = std::min(before, other[std::size_t(from)] + distance);
    row[std::size_t(z)] = now;
    lowered |= now < before;
  };
  for (std::int64_t z = std::max(0, -side); z < n - std::max(0, side); ++z) one(z, z + side);
  if (wraps && side < 0) one(0, n - 1);
  if (wraps && side > 0) one(n - 1, 0);
  return lowered;
}

/// One sweep over all cells, forward or backward, looking at the 13 neighbours that it has passed: those in four rows,
/// then that in its own. Whether any length has become less.
bool sweep(Sheet& sheet, bool forward) {
  const auto [nx, ny, nz] = sheet.count;
  const int back = forward ? -1 : 1;
  const std::array<int, 2> passed[] = {{back, -1}, {back, 0}, {back, 1}, {0, back}};
  const std::int64_t rows = nx * ny;
  bool lowered = false;
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::int64_t i = forward ? k : rows - 1 - k, x = i / ny, y = i % ny;
    const std::span<Length> here = sheet.row(x, y);
    for (const auto& [dx, dy] : passed) {
      std::int64_t jx = x + dx, jy = y + dy;
      if (sheet.wraps[0]) jx = (jx + nx) % nx;
      if (sheet.wraps[1]) jy = (jy + ny) % ny;
      if (jx < 0 || jy < 0 || jx >= nx || jy >= ny) continue;
      for (const int dz : {-1, 0, 1}) {
        const int squared = dx * dx + dy * dy + dz * dz;
        const Length distance = distance_of[std::size_t(squared)];
        lowered |= lower(here, sheet.row(jx, jy), dz, distance, sheet.wraps[2]);
      }
    }
    Length last = here[std::size_t(forward == sheet.wraps[2] ? nz - 1 : 0)];
    for (std::int64_t z = 0; z < nz; ++z) {
      Length& value = here[std::size_t(forward ? z : nz - 1 - z)];
      lowered |= last + distance_of[1] < value;
      last = value = std::min(value, last + distance_of[1]);
    }
  }
  return lowered;
}

}  // namespace

void set_gradients(const Cells& cells, const CellBox& own, Sheet& sheet, int threads) {
  const auto rows = std::size_t(own.count[0] * own.count[1]);
  const std::size_t at_a_time = std::max<std::size_t>((1 << 16) / std::size_t(own.count[2]), 1);
  parallel_for(threads, rows, at_a_time, [&](std::size_t first, std::size_t end) {
    for (auto r = std::int64_t(first); r < std::int64_t(end); ++r) {
      const std::int64_t x = own.first[0] + r / own.count[1], y = own.first[1] + r % own.count[1];
      const std::span<Length> row = sheet.row(x, y);
      for (std::int64_t z = own.first[2]; z < own.first[2] + own.count[2]; ++z) {
        const double scale = std::min(gradient_scale(cells, sheet, {x, y, z}), farthest * step_of_length);
        row[std::size_t(z)] = Length(std::llround(scale / step_of_length));
      }
    }
  });
}

void relax(Sheet& sheet) {
  const bool wraps = sheet.wraps[0] || sheet.wraps[1] || sheet.wraps[2];
  for (bool lowered = true; lowered;) {
    stop_if_interrupted();
    lowered = sweep(sheet, true);
    lowered = sweep(sheet, false) || lowered;
    lowered = lowered && wraps;
  }
}

std::vector<float> in_cells(const Sheet& sheet) {
  std::vector<float> scale(sheet.length.size());
  std::ranges::transform(sheet.length, scale.begin(), [](Length l) { return float(l * step_of_length); });
  return scale;
}

std::vector<float> neighbourhood_scale(const Cells& cells, int threads) {
  const GridShape& shape = cells.shape();
  Sheet sheet(shape.count, {shape.periodic, shape.periodic, shape.periodic});
  set_gradients(cells, shape.box(), sheet, threads);
  relax(sheet);
  return in_cells(sheet);
}

}  // namespace thor
