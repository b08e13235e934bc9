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

/// Memory of VoronoiCellArrays.
struct VoronoiMemory {
  std::vector<std::int32_t> firsts, behind, table;
  std::vector<FourFaces> lines;
  std::vector<float> sites;
  int cubes = 1;
  std::array<float, 6> box{};

  const float* site(std::size_t cell) const { return &sites[6 * cell]; }

  VoronoiCellArrays view() const;
  std::int64_t cells() const { return std::int64_t(firsts.size()) - 1; }
  double bytes() const;
};

/// The Voronoi mesh of sites as the host sees it. The first integer of a place is the cell, the second one what is
/// behind the nearest face. Cells are numbered along the Morton curve of their sites.
class VoronoiMesh : public HostMesh {
 public:
  /// Builds it. Coordinates are in cm. Sites that stand more than once are one cell, with the gas of the first.
  /// `compact`: without the planes of faces, if each of them is that of the nearest image of its neighbour.
  VoronoiMesh(const std::string& path, std::vector<std::array<double, 3>> sites, const MeshBox& box, bool compact,
              int threads);

  double unit() const { return unit_; }  ///< cube root of the mean volume of a cell [cm]
  /// The memory of a part, with the planes of its faces.
  VoronoiMemory part(const MeshPart& part) const;
  /// The arrays, as kernels see them, without gas.
  Voronoi<double> view() const;

  const char* name() const override { return "mesh"; }
  std::int64_t cells() const override { return std::int64_t(volumes_.size()); }
  CellNumbers numbers() const override { return {}; }
  std::vector<std::uint32_t> rows() const override { return first_of_; }
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
  void keep(const VoronoiFaces& built, bool compact, int threads);
  void build_table(int threads);

  MeshBox box_;
  double unit_ = 1;
  std::size_t faces_ = 0, most_faces_ = 0, merged_ = 0;
  bool twins_ = false;
  std::vector<std::uint32_t> cell_of_, first_of_;  ///< the cell of each site of the file; the first site of each cell
  std::vector<double> volumes_;                    ///< [cm^3]
  VoronoiMemory memory_;
};

/// The gas of the cells.
class VoronoiCells : public MeshCells {
 public:
  VoronoiCells(const std::shared_ptr<const VoronoiMesh>& mesh, std::shared_ptr<const MeshPart> part,
               const CellLayout& layout, const CellUnits& units, double largest_velocity);

  AnyDataset dataset() const override;
  void survey(int threads, bool core_skip, double hubble) override;
  /// Of a cube with the volume of the cell.
  double side(std::int64_t cell) const override;
  double middle(std::int64_t) const override { return 0; }
  /// No sphere in the cell has a larger radius: that of a sphere with its volume.
  double largest_room(std::int64_t cell) const { return 0.62036 * side(cell); }
  VoronoiPlace<double, std::int64_t> place(std::int64_t cell) const { return {cell, 0, 1}; }
  void for_each_behind(std::int64_t whole, const std::function<void(const Behind&)>& take) const override;
  double to_face(std::int64_t whole) const override;
  double straightness() const override { return 0.8; }  // ways along the edges of Delaunay's tetrahedra

 private:
  Voronoi<double> view() const;
  std::shared_ptr<const VoronoiMesh> mesh_;
  VoronoiMemory memory_;  ///< of a part
  VoronoiOfBirths whole_;
};

/// The cells of such a dataset.
inline const VoronoiCells& cells_of_dataset(const Voronoi<double>&, const CellRecords& cells) {
  return dynamic_cast<const VoronoiCells&>(cells);
}

}  // namespace thor
