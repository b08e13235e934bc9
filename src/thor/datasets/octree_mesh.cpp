#include "thor/datasets/octree_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor {

HostMesh::Position OctreeMesh::centre(const std::array<std::int32_t, 3>& place) const {
  Position found = low();
  for (std::size_t k = 0; k < 3; ++k) found[k] += 0.5 * place[k];
  return found;
}

std::vector<std::uint32_t> OctreeMesh::rows() const {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(cells()));
  for (std::int64_t row = 0; row < cells(); ++row) rows[std::size_t(tree_->leaf_of(row))] = std::uint32_t(row);
  return rows;
}

double OctreeMesh::volume(std::int64_t cell) const { return std::pow(unit() * tree_->width(cell), 3); }

HostMesh::Position OctreeMesh::low() const {
  Position corner{};
  for (std::size_t k = 0; k < 3; ++k) corner[k] = box_.origin[k] / unit();
  return corner;
}

HostMesh::Position OctreeMesh::sides() const {
  const auto side = double(std::int64_t(1) << tree_->depth());
  return {side, side, side};
}

std::optional<HostMesh::Site> OctreeMesh::locate(const Position& position) const {
  const double side = sides()[0];
  std::int32_t at[3];
  double place[3];
  for (std::size_t k = 0; k < 3; ++k) {
    place[k] = position[k] - low()[k];
    if (!(place[k] >= 0 && place[k] <= side)) return {};
    at[k] = std::int32_t(std::min(place[k], side - 1));
  }
  const Octree<double> tree = tree_->view();
  const std::int64_t leaf = thor::view<double>(tree).find<double>(at[0], at[1], at[2]).leaf;
  Site site{tree_->centre(leaf), {}};
  for (std::size_t k = 0; k < 3; ++k) site.offset[k] = place[k] - tree_->corner(leaf)[k];
  return site;
}

std::vector<std::optional<HostMesh::Site>> OctreeMesh::copies(const Position& position) const {
  Position inside = position;
  if (box_.periodic) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double side = sides()[k], place = position[k] - low()[k];
      inside[k] = low()[k] + place - side * std::floor(place / side);
    }
  }
  return {locate(inside)};
}

void OctreeMesh::check_field(const io::Input& file, const std::string& field) const {
  require_one_a_cell(file, field, std::uint64_t(cells()), words_of_octrees);
}

void OctreeMesh::read_field(const std::string& path, const std::string& field, int threads,
                            const std::function<void(std::int64_t, double)>& take) const {
  const io::Input file(path);
  check_field(file, field);
  file.read_blocks<float>(field, threads, [&](const io::Block<float>& block) {
    for (std::uint64_t i = 0; i < block.count[0]; ++i) {
      take(tree_->leaf_of(std::int64_t(block.first[0] + i)), double(block.values[i]));
    }
  });
}

std::vector<Derived> OctreeMesh::derived() const {
  const double kpc = 1e3 * constants::pc;
  std::vector<Derived> all{
      {"cells", double(cells()), "", "number of leaves"},
      {"finest", unit() / kpc, "kpc", fmt::format("side of the finest leaves, of level {}", tree_->depth())},
      {"coarsest", box_.size / double(std::int64_t(1) << tree_->coarsest()) / kpc, "kpc",
       fmt::format("side of the coarsest leaves, of level {}", tree_->coarsest())},
      {"tree_memory", double(tree_->bytes()) / 1e9, "GB", "memory of the tree on a GPU, beside the gas"}};
  for (Derived& one : derived_of_box(box_)) all.push_back(std::move(one));
  return all;
}

void OctreeMesh::write(io::ArrayOutput& file) const {
  file.attribute("/grid", "leaves", cells());
  file.attribute("/grid", "depth", std::int64_t(tree_->depth()));
  write_box(file, box_);
}

Octree<double> OctreeMesh::view() const {
  Octree<double> tree = tree_->view();
  for (std::size_t k = 0; k < 3; ++k) tree.zero[k] = -low()[k];
  tree.periodic = box_.periodic;
  return tree;
}

OctreeCells::OctreeCells(const std::shared_ptr<const OctreeMesh>& mesh, std::shared_ptr<const MeshPart> part,
                         const CellLayout& layout, const CellUnits& units, double largest_velocity)
    : MeshCells(mesh->cells(), std::move(part), layout, units, largest_velocity, words_of_octrees),
      mesh_(mesh),
      tree_(mesh->tree()) {
  if (!this->part()) return;
  tree_ = std::make_shared<const OctreeTree>(*tree_, this->part()->held, this->part()->border);
  whole_ = {mesh_->view(), this->part()->cells()};
}

AnyDataset OctreeCells::dataset() const {
  Octree<double> tree = mesh_->view();
  if (part()) {
    const Octree<double> of_part = tree_->view();
    tree.table = of_part.table, tree.nodes = of_part.nodes, tree.firsts = of_part.firsts;
    tree.table_depth = of_part.table_depth;
    tree.held = std::int32_t(cells()), tree.whole.it = &whole_;
  }
  tree.gas = records();
  return tree;
}

OctreePlace<double, std::int64_t> OctreeCells::place(std::int64_t leaf) const {
  const auto centre = tree_->centre(leaf);
  return {leaf, centre[0], centre[1], centre[2]};
}

void OctreeCells::for_each_behind(std::int64_t whole, const std::function<void(const Behind&)>& take) const {
  const OctreeTree& tree = *mesh_->tree();
  const std::int64_t root = std::int64_t(1) << tree.depth(), width = tree.width(whole);
  const double half = 0.5 * double(width);
  const Octree<double> data = tree.view();
  const auto view = thor::view<double>(data);
  // One leaf, or those of each quarter of the face.
  const auto visit = [&](const auto& self, const std::array<std::int64_t, 3>& at, std::size_t axis,
                         std::int64_t side) -> void {
    const auto [leaf, its_width] = view.find<double>(at[0], at[1], at[2]);
    if (its_width >= side) return take({leaf, half + 0.5 * double(its_width), half});
    for (int k = 0; k < 4; ++k) {
      std::array<std::int64_t, 3> quarter = at;
      quarter[(axis + 1) % 3] += k / 2 * side / 2, quarter[(axis + 2) % 3] += k % 2 * side / 2;
      self(self, quarter, axis, side / 2);
    }
  };
  const auto& corner = tree.corner(whole);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const bool upper : {false, true}) {
      std::array<std::int64_t, 3> at{corner[0], corner[1], corner[2]};
      at[axis] += upper ? width : -1;
      if (mesh_->periodic()) at[axis] = (at[axis] + root) % root;
      if (at[axis] < 0 || at[axis] >= root) {
        take({-1, 2 * half, half});
      } else {
        visit(visit, at, axis, width);
      }
    }
  }
}

void OctreeCells::survey(int threads, bool core_skip, double hubble) {
  const OctreeTree& tree = *tree_;
  const Octree<double> data = tree.view();
  const auto view = thor::view<double>(data);
  const std::int64_t root = std::int64_t(1) << tree.depth();
  std::mutex mutex;
  CellStatistics sum;
  parallel_for(threads, std::size_t(own_cells()), 1 << 14, [&](std::size_t first, std::size_t end) {
    CellStatistics p;
    for (auto i = first_own() + std::int64_t(first); i < first_own() + std::int64_t(end); ++i) {
      CellGas<double> here = gas(i);
      const std::int64_t width = tree.width(i);
      if (core_skip)
        p.largest_x_crit =
            std::max(p.largest_x_crit, critical_frequency(here, here.core_scale + 0.5 * side(i), hubble));
      const double density = here.opacity / here.inverse_width;
      here.opacity *= side(i);  // of the leaf
      p.add_cell(here);
      p.density += std::pow(side(i), 3) * density - here.opacity / here.inverse_width;
      p.cells += std::pow(side(i), 3);
      // Each face once: from the lower of two leaves of a size, and from the smaller one.
      const auto& corner = tree.corner(i);
      for (std::size_t k = 0; k < 3; ++k) {
        for (const bool upper : {true, false}) {
          std::array<std::int64_t, 3> at{corner[0], corner[1], corner[2]};
          at[k] += upper ? width : -1;
          if (at[k] < 0 || at[k] >= root) continue;
          const auto [neighbour, its_width] = view.find<double>(at[0], at[1], at[2]);
          if (upper ? its_width < width : its_width <= width) continue;
          CellGas<double> behind = gas(neighbour);
          behind.opacity *= side(neighbour);
          p.add_face(here, behind);
        }
      }
    }
    const std::lock_guard lock(mutex);
    sum.add(p);
  });
  finish_statistics(sum, sum.cells);
}

}  // namespace thor
