#include "thor/gridding/plan/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/error.hpp"

namespace thor::gridding {
namespace {

/// Part of the available memory that slabs take: the rest is for files in the cache.
constexpr double used_share = 0.75;

/// Thick slabs have a number of layers that chunks of a file divide well.
constexpr std::int64_t thick = 64, step = 16;

double most(const MemoryRoom& room) { return std::min(room.limit.value_or(room.available), room.available); }

MemoryPlan with_layers(MemoryPlan plan, std::int64_t layers) {
  const double part = double(layers) / double(plan.layers);
  plan.layers = layers;
  plan.grid *= part, plan.field *= part;
  return plan;
}

}  // namespace

MemoryPlan on_ranks(const MemoryPlan& plan, std::int64_t ranks) {
  const std::int64_t rounds = (plan.slabs() + ranks - 1) / ranks, slabs = rounds * ranks;
  std::int64_t layers = (plan.all_layers + slabs - 1) / slabs;
  if (layers > thick) layers = std::min((layers + step - 1) / step * step, plan.layers);
  MemoryPlan shared = with_layers(plan, layers);
  shared.ranks = ranks;
  return shared;
}

MemoryPlan in_slabs(const MemoryPlan& whole, const MemoryRoom& room) {
  if (whole.total() <= most(room)) return whole;
  const double for_cells =
      std::min(room.limit.value_or(room.available), used_share * room.available) - whole.block - whole.elements;
  const double layer = (whole.grid + whole.field) / double(whole.all_layers);
  auto layers = std::int64_t(std::clamp(std::floor(for_cells / layer), 1., double(whole.all_layers)));
  if (layers > thick && layers < whole.all_layers) layers -= layers % step;
  return with_layers(whole, layers);
}

void require(const MemoryPlan& plan, const MemoryRoom& room) {
  if (plan.total() <= most(room)) return;
  const bool asked = room.limit && *room.limit < room.available;
  std::string needs = fmt::format("{} of memory ({:.3g} bytes per cell)", size_text(plan.total()), plan.per_cell);
  if (plan.slabs() > 1) {
    needs = fmt::format(
        "at least {} of memory, {} for one layer of cells along x ({:.3g} bytes per cell) and {} for gas "
        "elements",
        size_text(plan.total()), size_text(plan.grid + plan.field), plan.per_cell,
        size_text(plan.block + plan.elements));
  }
  const std::string has = asked ? fmt::format("--memory allows {}: give more, or ", size_text(*room.limit))
                                : fmt::format("{} are free: ", size_text(room.available));
  throw Error(ExitCode::input,
              fmt::format("the grid needs {}, but {}use fewer --cells, a smaller --size, --precision single, or "
                          "--emission none",
                          needs, has));
}

}  // namespace thor::gridding
