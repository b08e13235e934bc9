#pragma once
#include "thor/datasets/medium.hpp"

namespace thor {

/// A uniform grid, or the cells of a box of it, in cells.
class GridMesh : public HostMesh {
 public:
  explicit GridMesh(const GridShape& shape) : GridMesh(shape, shape.box()) {}
  GridMesh(const GridShape& shape, const CellBox& box) : shape_(shape), box_(box) {}

  const char* name() const override { return "grid"; }
  std::int64_t cells() const override { return box_.cells(); }
  CellNumbers numbers() const override;
  std::array<std::int32_t, 3> place(std::int64_t number) const override;
  Position centre(const std::array<std::int32_t, 3>& place) const override;
  double volume(std::int64_t cell) const override;
  Position low() const override;
  Position sides() const override;
  bool periodic() const override { return shape_.periodic; }
  std::optional<Site> locate(const Position& position) const override;
  std::vector<std::optional<Site>> copies(const Position& position) const override;
  void check_field(const io::Input& file, const std::string& field) const override;
  void read_field(const std::string& path, const std::string& field, int threads,
                  const std::function<void(std::int64_t, double)>& take) const override;
  std::vector<Derived> derived() const override;
  void write(io::ArrayOutput& file) const override;

 private:
  GridShape shape_;
  CellBox box_;
};

/// Gives a medium the cells of a grid, whose side is its unit of length.
void set_grid(MediumOutline& medium, const GridShape& shape);

}  // namespace thor
