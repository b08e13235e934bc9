#pragma once
#include "thor/datasets/mesh_file.hpp"
#include "thor/datasets/voronoi.hpp"
#include "thor/datasets/voronoi_mesh_builder.hpp"

namespace thor {

inline constexpr MeshWords words_of_sites{
    "a Voronoi mesh",
    "site",
    "sites",
    "docs/voronoi.md",
    [](const std::string& array) { return array == "x" || array == "y" || array == "z"; },
    false};

/// The Voronoi mesh of sites as the host sees it. The first integer of a place is the cell.
class VoronoiMesh : public HostMesh {
 public:
  /// Builds it. Coordinates are in cm. Sites that stand more than once are one cell, with the gas of the first.
  VoronoiMesh(const std::string& path, std::vector<std::array<double, 3>> sites, const MeshBox& box, int threads);

  double unit() const { return unit_; }  ///< cube root of the mean volume of a cell [cm]
  double bytes_of_cell() const;          ///< of the arrays that kernels use
  /// The arrays, as kernels see them, without gas.
  Voronoi<double> view() const;

  const char* name() const override { return "mesh"; }
  std::int64_t cells() const override { return std::int64_t(volumes_.size()); }
  CellNumbers numbers() const override { return {}; }
  std::array<std::int32_t, 3> place(std::int64_t number) const override { return {std::int32_t(number), 0, 0}; }
  Position centre(const std::array<std::int32_t, 3>& place) const override;
  double volume(std::int64_t cell) const override { return volumes_[std::size_t(cell)]; }
  Position low() const override;
  Position sides() const override { return {box_.size / unit_, box_.size / unit_, box_.size / unit_}; }
  bool periodic() const override { return box_.periodic; }
  double bytes() const override;
  std::optional<Site> locate(const Position& position) const override;
  std::vector<std::optional<Site>> copies(const Position& position) const override;
  void check_field(const io::Input& file, const std::string& field) const override;
  void read_field(const std::string& path, const std::string& field, int threads,
                  const std::function<void(std::int64_t, double)>& take) const override;
  std::vector<Derived> derived() const override;
  void write(io::ArrayOutput& file) const override;

 private:
  void number_cells(const VoronoiFaces& built, std::size_t count);
  void keep(const VoronoiFaces& built);
  void build_table(int threads);

  MeshBox box_;
  double unit_ = 1;
  std::size_t faces_ = 0, most_faces_ = 0, merged_ = 0;
  bool twins_ = false;
  int cubes_ = 1;
  std::vector<std::int64_t> first_of_;               ///< the first site of each cell in the file
  std::vector<std::uint32_t> cell_of_;               ///< the cell of each site of the file
  std::vector<std::uint32_t> number_of_, built_as_;  ///< of cells as they are built, until they are kept
  std::vector<double> volumes_, sites_;              ///< [cm^3]; in units, from the corner of the box
  std::vector<std::int32_t> ends_, table_;
  std::vector<FourFaces> lines_;
  std::vector<float> shapes_;
};

/// The gas of the cells.
class VoronoiCells : public MeshCells {
 public:
  VoronoiCells(const std::shared_ptr<const VoronoiMesh>& mesh, const CellLayout& layout, const CellUnits& units,
               double largest_velocity)
      : MeshCells(mesh, layout, units, largest_velocity, words_of_sites), mesh_(mesh) {}

  void survey(int threads, bool core_skip, double hubble) override;
  /// Of a cube with the volume of the cell.
  double side(std::int64_t cell) const override;
  double middle(std::int64_t) const override { return 0; }
  VoronoiPlace<double, std::int64_t> place(std::int64_t cell) const { return {cell, 0, 1}; }
  std::vector<float> lengths() const override;

 private:
  double to_face(std::int64_t cell) const;  ///< from the site

  std::shared_ptr<const VoronoiMesh> mesh_;
};

/// The cells of such a dataset.
inline const VoronoiCells& cells_of_dataset(const Voronoi<double>&, const CellRecords& cells) {
  return dynamic_cast<const VoronoiCells&>(cells);
}

}  // namespace thor
