#pragma once
#include <mutex>
#include <vector>

#include "thor/comm/world.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/medium.hpp"

namespace thor {

/// Cells of this process, and those of them that count where all processes add up theirs: each cell counts at one
/// process only.
struct CountedCells {
  const CellRecords* cells;
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  ///< [first, end) of consecutive cells, all about as long

  /// The sum over all that count, from several threads: add(sums, number of the cell, its gas).
  template <class Sums, class Add>
  Sums sum(int threads, const Add& add) const {
    Sums all;
    std::mutex mutex;
    const std::size_t cells_of_run = runs.empty() ? 1 : std::size_t(runs.front().second - runs.front().first);
    const std::size_t at_a_time = std::max<std::size_t>((1 << 16) / cells_of_run, 1);
    parallel_for(threads, runs.size(), at_a_time, [&](std::size_t first, std::size_t end) {
      Sums some;
      for (std::size_t k = first; k < end; ++k) {
        for (std::int64_t i = runs[k].first; i < runs[k].second; ++i) add(some, i, cells->gas(i));
      }
      const std::lock_guard lock(mutex);
      all.add(some);
    });
    return all;
  }
};

/// Those of a medium, or of its parts that this process holds.
std::vector<CountedCells> counted_cells(const Medium& medium, const comm::World& world);

}  // namespace thor
