#pragma once
#include "thor/datasets/mesh_file.hpp"
#include "thor/datasets/octree_tree.hpp"

namespace thor {

inline constexpr MeshWords words_of_octrees{
    "an octree",
    "leaf",
    "leaves",
    "docs/octrees.md",
    [](const std::string& array) { return array == "level" || array == "x" || array == "y" || array == "z"; },
    true};

/// An octree as the host sees it. The integers of a place are the centre of a leaf, as in OctreePlace.
class OctreeMesh : public HostMesh {
 public:
  OctreeMesh(std::shared_ptr<const OctreeTree> tree, const MeshBox& box) : tree_(std::move(tree)), box_(box) {}

  const std::shared_ptr<const OctreeTree>& tree() const { return tree_; }
  /// As kernels see it, without gas.
  Octree<double> view() const;
  double unit() const { return box_.size / double(std::int64_t(1) << tree_->depth()); }  ///< [cm]

  const char* name() const override { return "octree"; }
  std::int64_t cells() const override { return tree_->leaves(); }
  CellNumbers numbers() const override { return {}; }
  std::vector<std::uint32_t> rows() const override;
  std::array<std::int32_t, 3> place(std::int64_t number) const override { return tree_->centre(number); }
  Position centre(const std::array<std::int32_t, 3>& place) const override;
  double volume(std::int64_t cell) const override;
  Position low() const override;
  Position sides() const override;
  bool periodic() const override { return box_.periodic; }
  double bytes() const override { return double(tree_->bytes()) + 17 * double(tree_->leaves()); }
  std::optional<Site> locate(const Position& position) const override;
  std::vector<std::optional<Site>> copies(const Position& position) const override;
  void check_field(const io::Input& file, const std::string& field) const override;
  void read_field(const std::string& path, const std::string& field, int threads,
                  const std::function<void(std::int64_t, double)>& take) const override;
  std::vector<Derived> derived() const override;
  void write(io::ArrayOutput& file) const override;

 private:
  std::shared_ptr<const OctreeTree> tree_;
  MeshBox box_;
};

/// The gas of the leaves.
class OctreeCells : public MeshCells {
 public:
  OctreeCells(const std::shared_ptr<const OctreeMesh>& mesh, std::shared_ptr<const MeshPart> part,
              const CellLayout& layout, const CellUnits& units, double largest_velocity);

  AnyDataset dataset() const override;
  void survey(int threads, bool core_skip, double hubble) override;
  double side(std::int64_t leaf) const override { return tree_->width(leaf); }
  OctreePlace<double, std::int64_t> place(std::int64_t leaf) const;
  void for_each_behind(std::int64_t whole, const std::function<void(const Behind&)>& take) const override;
  double to_face(std::int64_t whole) const override { return 0.5 * mesh_->tree()->width(whole); }
  double straightness() const override { return 0.577; }  // ways along the axes

 private:
  std::shared_ptr<const OctreeMesh> mesh_;
  std::shared_ptr<const OctreeTree> tree_;  ///< with these leaves
  OctreeOfBirths whole_{};                  ///< of a part
};

/// The leaves of such a dataset.
inline const OctreeCells& cells_of_dataset(const Octree<double>&, const CellRecords& cells) {
  return dynamic_cast<const OctreeCells&>(cells);
}

}  // namespace thor
