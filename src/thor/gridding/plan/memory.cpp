#include "thor/gridding/plan/memory.hpp"

#include <fmt/format.h>

#include "thor/core/error.hpp"

namespace thor::gridding {

void require(const MemoryPlan& plan, double available) {
  if (plan.total() <= available) return;
  throw Error(ExitCode::input,
              fmt::format("the grid needs {} of memory ({:.3g} bytes per cell), but {} are free: use fewer --cells, a "
                          "smaller --size, --precision single, or --emission none",
                          size_text(plan.total()), plan.per_cell, size_text(available)));
}

}  // namespace thor::gridding
