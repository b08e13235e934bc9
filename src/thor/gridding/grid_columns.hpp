#pragma once
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/grid_snapshot.hpp"
#include "thor/io/array/output.hpp"

namespace thor::gridding {

/// The gas of elements as it is, an array for each quantity of a grid: what a mesh of their own has.
struct GasColumns {
  std::vector<CellArray> arrays;
  std::vector<std::vector<float>> values;
  std::vector<double> sums;
  std::vector<double> density;  ///< [g/cm^3]; 0 where it is bad
  std::uint64_t bad = 0;

  explicit GasColumns(const FieldList& fields)
      : arrays(cell_arrays(fields)), values(arrays.size()), sums(std::size_t(fields.count)) {}

  std::size_t count() const { return density.size(); }
  double bytes_of_element() const { return 4. * double(arrays.size()) + 8; }
  /// An element, or an empty one in its place if it cannot be gas.
  void add(const io::GasBlock& block, std::size_t i, const std::array<double, 3>& velocity, const GasOptions& gas);
  /// Names of the arrays.
  std::vector<std::string> write(io::ArrayOutput& file) const;
};

/// The mass that cells of these volumes hold [g].
double mass_of_cells(const GasColumns& columns, const std::vector<double>& volumes);

/// What a mesh keeps: HI, the light of the gas, and the clumping <rho^2>/<rho>^2 of its cells, whose volumes are in
/// cm^3.
std::string describe_columns(const GasColumns& columns, const std::vector<double>& volumes);

/// The box of a mesh, with its middle in the origin.
void write_box_of_mesh(io::ArrayOutput& file, const GridOptions& options, const io::SnapshotHeader& header,
                       const char* format, double side, bool periodic);

/// Error(input) for elements that cannot be gas, where they are an error.
void refuse_bad_elements(const GridOptions& options, const GasColumns& columns, const char* elements);

}  // namespace thor::gridding
