#pragma once
#include <cstddef>
#include <cstdint>

#include "thor/gridding/deposit/lattice.hpp"

namespace thor::gridding {

/// Sums of all fields in the cells of some layers of a grid. Those of one cell are contiguous, since a deposit adds to
/// all of them. Initially zero.
template <class T>
class CellSums {
 public:
  CellSums(const Lattice& lattice, int fields) : CellSums(lattice, fields, all_layers(lattice)) {}
  CellSums(const Lattice& lattice, int fields, const Layers& layers);
  ~CellSums();
  CellSums(const CellSums&) = delete;
  CellSums& operator=(const CellSums&) = delete;

  const Lattice& lattice() const { return lattice_; }
  const Layers& layers() const { return layers_; }
  std::size_t cells() const { return columns() * std::size_t(lattice_.cells[2]); }
  int fields() const { return fields_; }
  /// Cells at one x and y, with x counted from the first layer of the grid.
  T* row(std::int64_t x, std::int64_t y) { return column(std::size_t((x - layers_.first) * lattice_.cells[1] + y)); }
  const T* row(std::int64_t x, std::int64_t y) const { return const_cast<CellSums*>(this)->row(x, y); }
  /// The same, counted through from the first that is held.
  std::size_t columns() const { return std::size_t(layers_.count() * lattice_.cells[1]); }
  T* column(std::size_t i) { return data_ + i * std::size_t(lattice_.cells[2]) * std::size_t(fields_); }
  const T* column(std::size_t i) const { return const_cast<CellSums*>(this)->column(i); }
  const T* cell(std::int64_t x, std::int64_t y, std::int64_t z) const { return row(x, y) + z * fields_; }

 private:
  Lattice lattice_;
  Layers layers_;
  int fields_;
  std::size_t bytes_;
  T* data_;
};

}  // namespace thor::gridding
