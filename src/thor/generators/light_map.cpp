#include "thor/generators/light_map.hpp"

#include <algorithm>
#include <cmath>

namespace thor {

LightMap::LightMap(const Emitter<double>& emitter, const CellIndex& shape) : shape_(shape) {
  for (std::size_t k = 0; k < 3; ++k) blocks_[k] = std::min(shape[k], most_blocks);
  sums_.resize(place(blocks_[0], blocks_[1], blocks_[2]) + 1);
  const auto all = double(emitter.count());
  const auto add = [&](const CellIndex& cell, double share) {
    CellIndex block{};
    for (std::size_t k = 0; k < 3; ++k) block[k] = cell[k] * blocks_[k] / shape_[k];
    sums_[place(block[0] + 1, block[1] + 1, block[2] + 1)] += share;
  };
  for (std::size_t i = 0; i < emitter.sources.size(); ++i) {
    const Source<double>& s = emitter.sources[i];
    const double share = double(emitter.light[i].photons) / all;
    if (s.shape == BirthPlace::table) {
      const SourceTable& table = s.table;
      const auto slots = double(table.end[table.count - 1]);
      std::uint64_t before = 0;
      for (std::uint64_t k = 0; k < table.count; before = table.end[k++]) {
        if (table.end[k] == before) continue;
        const auto index = std::int64_t(k);
        const CellIndex cell =
            table.place ? CellIndex{table.place[3 * k], table.place[3 * k + 1], table.place[3 * k + 2]}
                        : CellIndex{index / (shape[1] * shape[2]), index / shape[2] % shape[1], index % shape[2]};
        add(cell, share * double(table.end[k] - before) / slots);
      }
    } else if (s.shape == BirthPlace::point) {
      add({s.place[0], s.place[1], s.place[2]}, share);
    }  // a surface or a beam: not known, and so everywhere
  }
  for (std::int64_t x = 1; x <= blocks_[0]; ++x) {
    for (std::int64_t y = 1; y <= blocks_[1]; ++y) {
      for (std::int64_t z = 1; z <= blocks_[2]; ++z) {
        sums_[place(x, y, z)] += sums_[place(x - 1, y, z)] + sums_[place(x, y - 1, z)] + sums_[place(x, y, z - 1)] -
                                 sums_[place(x - 1, y - 1, z)] - sums_[place(x - 1, y, z - 1)] -
                                 sums_[place(x, y - 1, z - 1)] + sums_[place(x - 1, y - 1, z - 1)];
      }
    }
  }
}

double LightMap::below(const std::array<double, 3>& corner) const {
  // Between corners of blocks the sum is linear along each axis.
  double sum = 0;
  for (int k = 0; k < 8; ++k) {
    double weight = 1;
    CellIndex at{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double low = std::min(std::floor(corner[axis]), double(blocks_[axis] - 1)), rest = corner[axis] - low;
      const bool upper = (k >> axis & 1) != 0;
      at[axis] = std::int64_t(low) + (upper ? 1 : 0);
      weight *= upper ? rest : 1 - rest;
    }
    if (weight > 0) sum += weight * sums_[place(at[0], at[1], at[2])];
  }
  return sum;
}

double LightMap::operator()(const CellBox& box) const {
  double sum = 0;
  for (int k = 0; k < 8; ++k) {
    std::array<double, 3> corner{};
    int sign = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool upper = (k >> axis & 1) != 0;
      const std::int64_t cell = box.first[axis] + (upper ? box.count[axis] : 0);
      corner[axis] = double(cell) * double(blocks_[axis]) / double(shape_[axis]);
      sign *= upper ? 1 : -1;
    }
    sum += sign * below(corner);
  }
  return sum;
}

}  // namespace thor
