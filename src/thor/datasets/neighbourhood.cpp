#include "thor/datasets/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "thor/core/parallel_for.hpp"
#include "thor/datasets/cells.hpp"

namespace thor {
namespace {

/// l_j: the gas of a cell compared with that of its six neighbours.
void set_gradients(const Cells& cells, std::vector<float>& scale, int threads) {
  const GridShape& shape = cells.shape();
  const auto [nx, ny, nz] = shape.count;
  parallel_for(threads, scale.size(), 1 << 16, [&, ny = ny, nz = nz](std::size_t first, std::size_t end) {
    for (auto i = std::int64_t(first); i < std::int64_t(end); ++i) {
      const std::array<std::int64_t, 3> index{i / (ny * nz), i / nz % ny, i % nz};
      const std::int64_t step[3] = {ny * nz, nz, 1};
      const CellGas<double> g = cells.gas(i);
      double change = 0;  // per cell, of rho downwards and of v, in units of rho and v_th
      for (std::size_t k = 0; k < 3; ++k) {
        for (const int side : {-1, 1}) {
          std::int64_t next = index[k] + side;
          if (next < 0 || next >= shape.count[k]) {
            if (!shape.periodic) {
              change = 1;
              continue;
            }
            next = (next + shape.count[k]) % shape.count[k];
          }
          const CellGas<double> other = cells.gas(i + (next - index[k]) * step[k]);
          const double here = g.opacity / g.inverse_width, there = other.opacity / other.inverse_width;
          change = std::max(change, (here - there) / std::max(here, 1e-30));
          const double jump = std::hypot(other.velocity.x - g.velocity.x, other.velocity.y - g.velocity.y,
                                         other.velocity.z - g.velocity.z);
          change = std::max(change, jump * g.inverse_width);
        }
      }
      scale[std::size_t(i)] = float(std::max(0.5, 1 / std::max(change, 1e-10) - 0.5));
    }
  });
}

/// row[z] = min(row[z], other[z + side] + distance).
void lower(std::span<float> row, std::span<const float> other, int side, float distance, bool periodic) {
  const auto n = std::int64_t(row.size());
  const auto one = [&](std::int64_t z, std::int64_t from) {
    row[std::size_t(z)] = std::min(row[std::size_t(z)], other[std::size_t(from)] + distance);
  };
  for (std::int64_t z = std::max(0, -side); z < n - std::max(0, side); ++z) one(z, z + side);
  if (periodic && side < 0) one(0, n - 1);
  if (periodic && side > 0) one(n - 1, 0);
}

/// One sweep over all cells, forward or backward, looking at the 13 neighbours that it has passed: those in four rows,
/// then that in its own.
void sweep(const GridShape& shape, std::vector<float>& scale, bool forward) {
  const auto [nx, ny, nz] = shape.count;
  const auto row = [&, ny = ny, nz = nz](std::int64_t x, std::int64_t y) {
    return std::span(scale).subspan(std::size_t((x * ny + y) * nz), std::size_t(nz));
  };
  const int back = forward ? -1 : 1;
  const std::array<int, 2> passed[] = {{back, -1}, {back, 0}, {back, 1}, {0, back}};
  const std::int64_t rows = nx * ny;
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::int64_t i = forward ? k : rows - 1 - k, x = i / ny, y = i % ny;
    const std::span<float> here = row(x, y);
    for (const auto& [dx, dy] : passed) {
      std::int64_t jx = x + dx, jy = y + dy;
      if (shape.periodic) {
        jx = (jx + nx) % nx, jy = (jy + ny) % ny;
      } else if (jx < 0 || jy < 0 || jx >= nx || jy >= ny) {
        continue;
      }
      for (const int dz : {-1, 0, 1}) {
        lower(here, row(jx, jy), dz, std::sqrt(float(dx * dx + dy * dy + dz * dz)), shape.periodic);
      }
    }
    float last = shape.periodic ? here[std::size_t(forward ? nz - 1 : 0)] : here[std::size_t(forward ? 0 : nz - 1)];
    for (std::int64_t z = 0; z < nz; ++z) {
      float& value = here[std::size_t(forward ? z : nz - 1 - z)];
      last = value = std::min(value, last + 1);
    }
  }
}

}  // namespace

std::vector<float> neighbourhood_scale(const Cells& cells, int threads) {
  std::vector<float> scale(std::size_t(cells.shape().cells()));
  set_gradients(cells, scale, threads);
  // A periodic box needs the sweeps twice: what comes in through a face has to cross it.
  for (int round = 0; round < (cells.shape().periodic ? 2 : 1); ++round) {
    sweep(cells.shape(), scale, true);
    sweep(cells.shape(), scale, false);
  }
  return scale;
}

}  // namespace thor
