#include "thor/datasets/bad_cells.hpp"

#include <fmt/format.h>

#include "thor/core/error.hpp"

namespace thor {

void BadCells::add(const std::string& what, std::int64_t cell, double value) {
  const std::lock_guard lock(mutex_);
  bad_.resize(cells_);
  if (!bad_[std::size_t(cell)]) ++count_;
  bad_[std::size_t(cell)] = true;
  if (first_.empty() || cell < cell_) first_ = fmt::format("{} = {}", what, value), cell_ = cell;
}

void BadCells::end(const config::Dataset& dataset, CellRecords& cells,
                   const std::function<std::string(std::int64_t cell)>& name) const {
  if (count_ == 0) return;
  if (dataset.bad_cells == config::BadCells::error) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} of {} cells are bad, the first is {} with {}; correct the file, or set "
                            "dataset.bad_cells: drop to make them empty",
                            dataset.path, count_, cells_, name(cell_), first_));
  }
  std::vector<std::int64_t> dropped;
  for (std::size_t i = 0; i < cells_; ++i) {
    if (bad_[i]) cells.clear(std::int64_t(i)), dropped.push_back(std::int64_t(i));
  }
  cells.set_dropped(std::move(dropped));
}

}  // namespace thor
