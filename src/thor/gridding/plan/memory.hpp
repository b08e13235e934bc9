#pragma once
#include "thor/core/memory.hpp"

namespace thor::gridding {

struct MemoryPlan {
  double grid = 0;      ///< sums in all cells
  double field = 0;     ///< one field while it is written
  double block = 0;     ///< gas elements read at a time, and what is derived from them
  double elements = 0;  ///< those kept for --method nearest
  double per_cell = 0;  ///< (grid + field)/cells
  double total() const { return grid + field + block + elements; }
};

/// Error(input) if less than this is free.
void require(const MemoryPlan& plan, double available);

}  // namespace thor::gridding
