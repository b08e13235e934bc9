#pragma once
#include <cstdint>

#include "thor/core/target.hpp"

namespace thor {

/// The numbers that some cells of a mesh have among all of them: rows of consecutive numbers, and layers of rows, such
/// as a box in a grid whose numbers run along z first. Plain data, for kernels too.
struct CellNumbers {
  std::uint64_t first = 0;
  std::uint64_t row = 0;       ///< cells of a row; 0: all cells are in one
  std::uint64_t rows = 1;      ///< of a layer
  std::uint64_t to_row = 0;    ///< from a cell to the one at the same place in the next row,
  std::uint64_t to_layer = 0;  ///< and in the next layer

  THOR_FN std::uint64_t operator()(std::uint64_t cell) const {
    if (row == 0) return first + cell;
    return first + cell / (row * rows) * to_layer + cell / row % rows * to_row + cell % row;
  }
};

}  // namespace thor
