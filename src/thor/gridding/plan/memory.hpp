#pragma once
#include "thor/core/memory.hpp"

namespace thor::gridding {

struct MemoryPlan {
  double grid = 0;      ///< sums of all cells
  double field = 0;     ///< one field while it is written
  double block = 0;     ///< a block of gas elements, and the particles made of it
  double elements = 0;  ///< elements kept for --method nearest
  double per_cell = 0;  ///< (grid + field)/cells
  double total() const { return grid + field + block + elements; }
};

/// Error(input) if the plan needs more than is available.
void require(const MemoryPlan& plan, double available);

}  // namespace thor::gridding
