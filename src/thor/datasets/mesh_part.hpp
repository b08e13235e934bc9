#pragma once
#include <cstdint>

#include "thor/core/target.hpp"

namespace thor {

/// The numbers that a part of a mesh has for cells. Those that it holds follow each other as in the whole mesh; a cell
/// behind its border has its number in the whole, after them.
struct CellsHeld {
  const std::int32_t* whole;  ///< numbers in the whole mesh, ascending
  std::int32_t count;

  THOR_FN std::int32_t to_part(std::int32_t cell) const {
    std::int32_t first = 0, end = count;
    while (first < end) {
      const std::int32_t middle = first + (end - first) / 2;
      if (whole[middle] < cell) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first < count && whole[first] == cell ? first : count + cell;
  }
  THOR_FN std::int32_t to_whole(std::int32_t cell) const { return cell < count ? whole[cell] : cell - count; }
};

}  // namespace thor
