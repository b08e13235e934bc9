#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thor/datasets/cells.hpp"

/// The transform behind neighbourhood.hpp, in one box of cells.
namespace thor {

using Length = std::uint32_t;                 ///< in 2^-15 of a cell
inline constexpr Length farthest = 1u << 31;  ///< no way is longer

/// The lengths of a box of cells.
struct Sheet {
  CellIndex count;
  std::array<bool, 3> wraps;  ///< axes along which the last cell is beside the first
  std::vector<Length> length;

  Sheet(const CellIndex& cells, const std::array<bool, 3>& around)
      : count(cells), wraps(around), length(std::size_t(cells[0] * cells[1] * cells[2]), farthest) {}
  std::span<Length> row(std::int64_t x, std::int64_t y) {
    return std::span(length).subspan(std::size_t((x * count[1] + y) * count[2]), std::size_t(count[2]));
  }
};

/// Sets l_j of some of the cells. Those at a side of the sheet are at an open side of the grid.
void set_gradients(const Cells& cells, const CellBox& own, Sheet& sheet, int threads);
/// Finds the shortest ways within the box. Two sweeps do, but for ways that leave through a side and enter through the
/// other.
void relax(Sheet& sheet);
std::vector<float> in_cells(const Sheet& sheet);

}  // namespace thor
