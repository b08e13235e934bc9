#include "thor/datasets/equal_cells.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

/// A jump through some cells of less optical depth each has no table.
constexpr double thick = 0.1;

/// Cells of a grid at some distance around a few of them, and which of their faces lie between different gas.
class Surroundings {
  static constexpr std::int64_t reach = equal_cells_reach;

 public:
  /// `first`, `count`: the few.
  Surroundings(const CellsOfGrid& known, const CellIndex& first, const CellIndex& count) {
    std::array<std::vector<std::int64_t>, 3> place;  // along each axis, in what is known; -1: nowhere
    std::array<std::vector<bool>, 3> ends;           // the grid does behind it
    for (std::size_t k = 0; k < 3; ++k) {
      size_[k] = count[k] + 2 * reach;
      for (std::int64_t i = 0; i < size_[k]; ++i) {
        const std::int64_t cell = first[k] - reach + i, n = known.whole[k];
        std::int64_t from_first = cell - known.box.first[k];
        if (from_first < 0) from_first += n;
        if (from_first >= n) from_first -= n;
        place[k].push_back(from_first >= 0 && from_first < known.box.count[k] ? from_first : -1);
        ends[k].push_back(((cell + 1) % n + n) % n == 0);
      }
    }
    const CellIndex& stored = known.box.count;
    const auto index = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const std::int64_t at[3] = {place[0][std::size_t(x)], place[1][std::size_t(y)], place[2][std::size_t(z)]};
      return std::min({at[0], at[1], at[2]}) < 0 ? -1 : (at[0] * stored[1] + at[1]) * stored[2] + at[2];
    };
    const std::int64_t room = (size_[0] + 1) * (size_[1] + 1) * (size_[2] + 1);
    for (auto& sums : walls_) sums.assign(std::size_t(room), 0);
    for (std::int64_t x = 0; x < size_[0]; ++x) {
      for (std::int64_t y = 0; y < size_[1]; ++y) {
        for (std::int64_t z = 0; z < size_[2]; ++z) {
          const std::int64_t here = index(x, y, z), corner[3] = {x, y, z};
          const bool alone = here < 0 || known.cells.gas(here).opacity < thick;
          for (std::size_t k = 0; k < 3; ++k) {
            bool wall = alone || corner[k] + 1 == size_[k] || ends[k][std::size_t(corner[k])];
            if (!wall) {
              const std::int64_t next = index(x + (k == 0), y + (k == 1), z + (k == 2));
              wall = next < 0 || !known.cells.same(here, next);
            }
            add(walls_[k], x, y, z, wall);
            open_ = open_ || !wall;
          }
        }
      }
    }
  }

  bool has_equal() const { return open_; }

  /// The cuboid around one of the few, counted from the first of them.
  float around(const CellIndex& cell) const {
    CellIndex low = cell, high = cell;
    for (std::size_t k = 0; k < 3; ++k) low[k] += reach, high[k] += reach;
    std::int64_t grown[6] = {};
    for (std::int64_t layer = 1, last = 1; layer <= reach && last == layer; ++layer) {
      for (std::size_t side = 0; side < 6; ++side) {
        if (grown[side] + 1 != layer) continue;
        std::int64_t& face = side % 2 == 0 ? low[side / 2] : high[side / 2];
        const std::int64_t before = face;
        face += side % 2 == 0 ? -1 : 1;
        if (is_homogeneous(low, high)) {
          grown[side] = layer, last = layer + 1;
        } else {
          face = before;
        }
      }
    }
    float digits = 0;
    for (std::size_t side = 6; side-- > 0;) digits = digits * float(around_base) + float(grown[side]);
    return digits;
  }

 private:
  using Sums = std::vector<std::uint32_t>;

  std::size_t at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return std::size_t((x * (size_[1] + 1) + y) * (size_[2] + 1) + z);
  }
  /// Sums over all cells before a corner (a summed-area table, Crow 1984), filled in the order of the cells.
  void add(Sums& sums, std::int64_t x, std::int64_t y, std::int64_t z, bool wall) const {
    sums[at(x + 1, y + 1, z + 1)] = std::uint32_t(wall) + sums[at(x, y + 1, z + 1)] + sums[at(x + 1, y, z + 1)] +
                                    sums[at(x + 1, y + 1, z)] - sums[at(x, y, z + 1)] - sums[at(x, y + 1, z)] -
                                    sums[at(x + 1, y, z)] + sums[at(x, y, z)];
  }
  /// Whether there is no wall between cells of a cuboid.
  bool is_homogeneous(const CellIndex& low, const CellIndex& high) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t a = low[0], b = high[0] + (k != 0), c = low[1], d = high[1] + (k != 1), e = low[2],
                         f = high[2] + (k != 2);
      const Sums& s = walls_[k];
      if (s[at(b, d, f)] - s[at(a, d, f)] - s[at(b, c, f)] - s[at(b, d, e)] + s[at(a, c, f)] + s[at(a, d, e)] +
              s[at(b, c, e)] - s[at(a, c, e)] !=
          0)
        return false;
    }
    return true;
  }

  CellIndex size_{};
  std::array<Sums, 3> walls_;  ///< between a cell and the next along each axis
  bool open_ = false;
};

}  // namespace

bool has_equal_cells(const Cells& cells, int threads) {
  const CellIndex& count = cells.shape().count;
  const std::int64_t ny = count[1], nz = count[2], step[3] = {ny * nz, nz, 1};
  std::atomic<bool> found = false;
  parallel_for(threads, std::size_t(count[0] * ny), 64, [&](std::size_t begin, std::size_t end) {
    for (auto row = std::int64_t(begin); row < std::int64_t(end) && !found; ++row) {
      for (std::int64_t z = 0; z < nz; ++z) {
        const std::int64_t i = row * nz + z, corner[3] = {row / ny, row % ny, z};
        for (std::size_t k = 0; k < 3; ++k) {
          if (corner[k] + 1 < count[k] && cells.same(i, i + step[k]) && cells.gas(i).opacity >= thick) found = true;
        }
      }
    }
  });
  return found;
}

void equal_cells_around(const CellsOfGrid& known, const CellBox& box, int threads,
                        const std::function<void(std::int64_t cell, float digits)>& take) {
  constexpr std::int64_t side = 32;
  CellIndex blocks;
  for (std::size_t k = 0; k < 3; ++k) blocks[k] = (box.count[k] + side - 1) / side;
  parallel_for(threads, std::size_t(blocks[0] * blocks[1] * blocks[2]), 1, [&](std::size_t begin, std::size_t end) {
    for (auto i = std::int64_t(begin); i < std::int64_t(end); ++i) {
      const CellIndex block{i / (blocks[1] * blocks[2]), i / blocks[2] % blocks[1], i % blocks[2]};
      CellIndex from{}, first{}, count{};
      for (std::size_t k = 0; k < 3; ++k) {
        from[k] = block[k] * side;
        first[k] = box.first[k] + from[k], count[k] = std::min(side, box.count[k] - from[k]);
      }
      const Surroundings gas(known, first, count);
      if (!gas.has_equal()) continue;
      for (std::int64_t x = 0; x < count[0]; ++x) {
        for (std::int64_t y = 0; y < count[1]; ++y) {
          const std::int64_t row = ((from[0] + x) * box.count[1] + from[1] + y) * box.count[2] + from[2];
          for (std::int64_t z = 0; z < count[2]; ++z) take(row + z, gas.around({x, y, z}));
        }
      }
    }
  });
}

}  // namespace thor
