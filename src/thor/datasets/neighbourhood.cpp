#include "thor/datasets/neighbourhood.hpp"

#include <algorithm>
#include <cmath>

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

/// One sweep over all cells, forward or backward, looking at the 13 neighbours that it has passed.
void sweep(const GridShape& shape, std::vector<float>& scale, bool forward) {
  const auto [nx, ny, nz] = shape.count;
  struct Neighbour {
    std::int64_t x, y, z;
    float distance;
  };
  std::vector<Neighbour> passed;
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -1; z <= 1; ++z) {
        const bool before = x != 0 ? x < 0 : y != 0 ? y < 0 : z < 0;
        if ((x || y || z) && before == forward) {
          passed.push_back({x, y, z, std::sqrt(float(x * x + y * y + z * z))});
        }
      }
    }
  }
  const std::int64_t count = shape.cells();
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = forward ? k : count - 1 - k;
    const std::int64_t x = i / (ny * nz), y = i / nz % ny, z = i % nz;
    float least = scale[std::size_t(i)];
    for (const Neighbour& n : passed) {
      std::int64_t jx = x + n.x, jy = y + n.y, jz = z + n.z;
      if (shape.periodic) {
        jx = (jx + nx) % nx, jy = (jy + ny) % ny, jz = (jz + nz) % nz;
      } else if (jx < 0 || jy < 0 || jz < 0 || jx >= nx || jy >= ny || jz >= nz) {
        continue;
      }
      least = std::min(least, scale[std::size_t((jx * ny + jy) * nz + jz)] + n.distance);
    }
    scale[std::size_t(i)] = least;
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
