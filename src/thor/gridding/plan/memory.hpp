#pragma once
#include <cstdint>
#include <optional>

#include "thor/core/memory.hpp"

namespace thor::gridding {

/// Memory [bytes] of a grid that is filled slab by slab.
struct MemoryPlan {
  double grid = 0;      ///< sums in the cells of a slab
  double field = 0;     ///< one field of a slab while it is written
  double block = 0;     ///< a block of gas elements, and the particles made of it
  double elements = 0;  ///< elements kept for --method nearest
  double per_cell = 0;  ///< (grid + field)/cells

  std::int64_t all_layers = 1;  ///< of the grid along x
  std::int64_t layers = 1;      ///< of a slab; the last one may have fewer
  std::int64_t ranks = 1;       ///< that take slabs in turn; the memory is that of each

  double total() const { return grid + field + block + elements; }
  std::int64_t slabs() const { return (all_layers + layers - 1) / layers; }
  /// Number of times that a rank reads all gas; the nearest elements are sought among those in memory.
  std::int64_t passes() const { return elements > 0 ? 1 : (slabs() + ranks - 1) / ranks; }
};

/// Memory that a grid may take: `limit` (--memory), but no more than is available.
struct MemoryRoom {
  std::optional<double> limit;
  double available = 0;
};

/// Cuts a grid that was planned in one piece into slabs that fit; of one layer if not even that fits.
MemoryPlan in_slabs(const MemoryPlan& whole, const MemoryRoom& room);

/// Slabs that are as many for each of several ranks, and no thicker than planned.
MemoryPlan on_ranks(const MemoryPlan& plan, std::int64_t ranks);

/// Error(input) if the plan needs more than there is.
void require(const MemoryPlan& plan, const MemoryRoom& room);

}  // namespace thor::gridding
