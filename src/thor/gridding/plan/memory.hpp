#pragma once
#include "thor/core/memory.hpp"

namespace thor::gridding {

struct MemoryPlan {
  double grid = 0;      ///< sums of all cells
  double field = 0;     ///< one field as it is written
  double block = 0;     ///< gas elements that are read at a time, and what is made of them
  double elements = 0;  ///< those kept for --method nearest
  double per_cell = 0;  ///< (grid + field)/cells
  double total() const { return grid + field + block + elements; }
};

/// Error(input) where there is not as much.
void require(const MemoryPlan& plan, double available);

}  // namespace thor::gridding
