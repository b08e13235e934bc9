#pragma once
#include "thor/datasets/medium.hpp"

namespace thor {

/// A uniform grid, in cells.
class GridMesh : public HostMesh {
 public:
  explicit GridMesh(const GridShape& shape) : shape_(shape) {}

  const char* name() const override { return "grid"; }
  std::int64_t cells() const override { return shape_.cells(); }
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
};

/// Gives a medium the cells of a grid, whose side is its unit of length.
void set_grid(MediumOutline& medium, const GridShape& shape);

}  // namespace thor
