#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "thor/datasets/grid_file.hpp"

/// Single fields of a grid, for rays.
namespace thor {

/// One number for each cell of a box of a grid, in the order of field_layout().
struct FieldArray {
  std::shared_ptr<float[]> numbers;
  std::size_t count = 0;
  double unit = 1;  ///< of the numbers, a power of two: the largest is about 1, so that products stay within floats
};

/// The grid of a box of cells, each of one number, in the coordinates of the whole grid.
UniformGrid<double> field_layout(const GridShape& whole, const CellBox& box);

/// An array of zeros. Throws an Error if there is not enough memory.
FieldArray new_field(const UniformGrid<double>& layout);

/// Where the number of a cell is, which is counted in the box, z first.
std::size_t index_of_cell(const UniformGrid<double>& layout, std::int64_t cell);

/// The product of fields of a file, in their units there. Error(input) where a number is not finite, or 0 in its place
/// if `drop` is set.
FieldArray read_product(const std::string& path, const std::vector<std::string>& factors, const GridShape& shape,
                        const CellBox& box, bool drop, int threads);

/// Replaces every number by f(number), where both are without a unit.
void change(FieldArray& field, int threads, const std::function<double(double)>& f);

}  // namespace thor
