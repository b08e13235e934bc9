#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "thor/datasets/grid_file.hpp"
#include "thor/datasets/host_mesh.hpp"

/// Single fields of gas in cells, for rays.
namespace thor {

/// One number for each cell, in the order of FieldCells.
struct FieldArray {
  std::shared_ptr<float[]> numbers;
  std::size_t count = 0;
  double unit = 1;  ///< of the numbers, a power of two: the largest is about 1, so that products stay within floats
};

/// Cells for which fields have numbers: all of a mesh, or a part of it.
class FieldCells {
 public:
  virtual ~FieldCells() = default;
  virtual std::int64_t cells() const = 0;
  virtual std::size_t numbers() const = 0;                   ///< of a field: one for each cell, and what fills up tiles
  virtual std::size_t index(std::int64_t cell) const = 0;    ///< of its number
  virtual std::string text() const = 0;                      ///< "5 x 4 x 7 cells"
  virtual std::string text_of(std::int64_t cell) const = 0;  ///< which cell of the whole mesh that is
  virtual double volume(std::int64_t) const { return 1; }    ///< relative to others
  virtual double mean(const FieldArray& field) const = 0;    ///< by volume; of a part: its sum over all cells
  virtual void read(const std::string& path, const std::string& field, int threads, const TakeValue& take) const = 0;
};

/// A box of a grid, whose cells are counted z first.
class GridFieldCells final : public FieldCells {
 public:
  GridFieldCells(const GridShape& whole, const CellBox& box);
  /// Each cell of one number, in the coordinates of the whole grid.
  const UniformGrid<double>& layout() const { return layout_; }

  std::int64_t cells() const override { return box_.count[0] * box_.count[1] * box_.count[2]; }
  std::size_t numbers() const override;
  std::size_t index(std::int64_t cell) const override;
  std::string text() const override;
  std::string text_of(std::int64_t cell) const override;
  double mean(const FieldArray& field) const override;
  void read(const std::string& path, const std::string& field, int threads, const TakeValue& take) const override {
    read_field(path, field, whole_, box_, threads, take);
  }

 private:
  const GridShape whole_;
  const CellBox box_;
  const UniformGrid<double> layout_;
};

/// All cells of another mesh, whose unit of length is so many cm.
class MeshFieldCells final : public FieldCells {
 public:
  MeshFieldCells(std::shared_ptr<const HostMesh> mesh, double unit) : mesh_(std::move(mesh)), unit_(unit) {}

  std::int64_t cells() const override { return mesh_->cells(); }
  std::size_t numbers() const override { return std::size_t(cells()); }
  std::size_t index(std::int64_t cell) const override { return std::size_t(cell); }
  std::string text() const override;
  std::string text_of(std::int64_t cell) const override;
  double volume(std::int64_t cell) const override { return mesh_->volume(cell); }
  double mean(const FieldArray& field) const override;
  void read(const std::string& path, const std::string& field, int threads, const TakeValue& take) const override {
    mesh_->read_field(path, field, threads, take);
  }

 private:
  const std::shared_ptr<const HostMesh> mesh_;
  const double unit_;
};

/// An array of zeros. Throws an Error if there is not enough memory.
FieldArray new_field(const FieldCells& cells);

/// The product of fields of a file, in their units there. Error(input) where a number is not finite, or 0 in its place
/// if `drop` is set.
FieldArray read_product(const std::string& path, const std::vector<std::string>& factors, const FieldCells& cells,
                        bool drop, int threads);

/// Replaces every number by f(number), where both are without a unit.
void change(FieldArray& field, int threads, const std::function<double(double)>& f);

}  // namespace thor
