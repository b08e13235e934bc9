#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "thor/datasets/cell_records.hpp"
#include "thor/datasets/parameters.hpp"

namespace thor {

/// Counts what cannot be gas, and remembers where the first one is.
class BadCells {
 public:
  explicit BadCells(std::int64_t cells) : cells_(std::size_t(cells)) {}
  void add(const std::string& what, std::int64_t cell, double value);
  /// Makes them empty, or refuses them; `name`: of a cell, in messages.
  void end(const config::Dataset& dataset, CellRecords& cells,
           const std::function<std::string(std::int64_t cell)>& name) const;

 private:
  std::mutex mutex_;
  std::size_t cells_;
  std::vector<bool> bad_;
  std::int64_t count_ = 0, cell_ = 0;
  std::string first_;
};

}  // namespace thor
