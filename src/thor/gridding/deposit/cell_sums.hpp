#pragma once
#include <cstddef>
#include <cstdint>

#include "thor/gridding/deposit/lattice.hpp"

namespace thor::gridding {

/// Sums of all fields in all cells. Those of one cell are contiguous, since a deposit adds to all of them. Initially
/// zero.
template <class T>
class CellSums {
 public:
  CellSums(const Lattice& lattice, int fields);
  ~CellSums();
  CellSums(const CellSums&) = delete;
  CellSums& operator=(const CellSums&) = delete;

  const Lattice& lattice() const { return lattice_; }
  int fields() const { return fields_; }
  T* row(std::int64_t x, std::int64_t y) {
    return data_ + std::size_t((x * lattice_.cells[1] + y) * lattice_.cells[2]) * std::size_t(fields_);
  }
  const T* row(std::int64_t x, std::int64_t y) const { return const_cast<CellSums*>(this)->row(x, y); }
  const T* cell(std::int64_t x, std::int64_t y, std::int64_t z) const { return row(x, y) + z * fields_; }

 private:
  Lattice lattice_;
  int fields_;
  std::size_t bytes_;
  T* data_;
};

}  // namespace thor::gridding
