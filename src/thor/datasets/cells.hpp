#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "thor/datasets/cell_records.hpp"
#include "thor/datasets/domains.hpp"
#include "thor/datasets/uniform_grid.hpp"

namespace thor {

/// Geometry of a grid.
struct GridShape {
  CellIndex count{};
  CellIndex tiles{1, 1, 1};        ///< copies of what the file holds along each axis, of which all cells are made
  double cell_size = 0;            ///< [cm]
  std::array<double, 3> origin{};  ///< of the lower corner [cm]
  bool periodic = false;
  double redshift = 0, hubble = 0;  ///< H(z) [1/s]; 0: no expansion

  std::int64_t cells() const { return count[0] * count[1] * count[2]; }
  CellBox box() const { return {{}, count}; }
  /// A part of the grid as a grid of its own, without the faces of the whole.
  GridShape part(const CellBox& box) const;
};

/// Error(input) if so many cells of a grid take more memory than there is for each of several processes of this
/// machine.
void require_memory(const GridShape& shape, double cells, const CellLayout& layout, int processes);

/// A grid as a kernel sees it, by tiles of 4 x 4 x 4 cells unless it is small.
UniformGrid<double> without_gas(const GridShape& shape);

struct CellsOfGrid;

/// The cells of a uniform grid in memory, counted z first. They are filled, and then finished.
class Cells : public CellRecords {
 public:
  /// Throws an error if there is not enough memory.
  Cells(const GridShape& shape, const CellLayout& layout, const CellUnits& units, double largest_velocity);

  /// Core skipping's lengths, where the layout has them, equal neighbours if they are asked for, and the statistics, of
  /// a whole grid.
  void finish(int threads, bool join = false);
  /// The statistics of some of the cells of a part.
  void survey(int threads, const CellBox& counted);
  /// Finds equal neighbours among all that are `known` of a grid in which these cells are a box. Error(input) if there
  /// is not enough memory.
  void join(const CellsOfGrid& known, const CellBox& box, int threads);

  std::int64_t cells() const override { return shape_.cells(); }
  const GridShape& shape() const { return shape_; }
  /// Where a cell is, for a kernel.
  GridPlace<double, std::int64_t> place(std::int64_t cell) const {
    const std::int64_t ny = shape_.count[1], nz = shape_.count[2];
    return {cell / (ny * nz), cell / nz % ny, cell % nz};
  }
  /// The kernel's view; `zero` and the physics of a run are set by the caller.
  const UniformGrid<double>& dataset() const { return dataset_; }

 private:
  std::int64_t record(std::int64_t cell) const override;

  GridShape shape_;
  UniformGrid<double> dataset_{};
  std::unique_ptr<float[]> around_;
};

/// The cells of such a dataset.
inline const Cells& cells_of_dataset(const UniformGrid<double>&, const CellRecords& cells) {
  return dynamic_cast<const Cells&>(cells);
}

}  // namespace thor
