#include "thor/datasets/octree.hpp"

#include <algorithm>

#include "thor/core/error.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/octree_mesh.hpp"

/// Octrees from files: docs/octrees.md.
namespace thor {
namespace {

/// While it is built, a leaf takes this many bytes, most of them for a moment.
constexpr double bytes_of_leaf = 90;

std::shared_ptr<const OctreeTree> read_tree(const io::Input& file) {
  const std::uint64_t count = count_cells(file, {"level", "x", "y", "z"}, words_of_octrees);
  require_free(file.path().string(), count, bytes_of_leaf * double(count), " to build", words_of_octrees);
  std::vector<OctreeLeaf> leaves(count);
  const auto level = file.read_all<std::int64_t>("level");
  for (std::uint64_t i = 0; i < count; ++i) leaves[i].level = std::int32_t(std::clamp<std::int64_t>(level[i], -1, 99));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto at = file.read_all<std::int64_t>(std::string(1, "xyz"[k]));
    for (std::uint64_t i = 0; i < count; ++i) leaves[i].at[k] = at[i];
  }
  return std::make_shared<const OctreeTree>(file.path().string(), leaves);
}

MediumOutline outline_octree(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  const io::Input file(dataset.path);
  const MeshBox box = read_box(file, dataset, words_of_octrees);
  count_cells(file, dataset, line, words_of_octrees);
  const auto mesh = std::make_shared<const OctreeMesh>(read_tree(file), box);
  MediumOutline m{};
  m.mesh = mesh;
  m.size = mesh->unit(), m.redshift = box.redshift, m.hubble = box.hubble;
  outline_cells(m, dataset, line, refuse);
  m.dataset = mesh->view();
  return m;
}

void add_octree_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options) {
  const auto mesh = std::dynamic_pointer_cast<const OctreeMesh>(m.mesh);
  add_mesh_cells(m, dataset, line, options, words_of_octrees,
                 [mesh](const auto& part, const CellLayout& layout, const CellUnits& units, double fastest) {
                   return std::make_shared<OctreeCells>(mesh, part, layout, units, fastest);
                 });
}

std::shared_ptr<const Partition> divide_octree(const MediumOutline& m, const Cut& cut) {
  const auto mesh = std::dynamic_pointer_cast<const OctreeMesh>(m.mesh);
  return std::make_shared<MeshPartition>(
      mesh, cut, 1,
      [tree = mesh->tree(), periodic = mesh->periodic()](std::int64_t leaf, std::int64_t first, std::int64_t end,
                                                         const auto& take) {
        tree->for_each_neighbour(leaf, periodic, first, end, take);
      });
}

bool is_octree(const io::Input& file) { return file.number("/", "box_size") && file.has("/level"); }

RayMesh octree_of_rays(const config::Dataset& dataset) {
  const io::Input file(dataset.path);
  const MeshBox box = read_box(file, dataset, words_of_octrees);
  const auto mesh = std::make_shared<const OctreeMesh>(read_tree(file), box);
  Octree<double> tree = mesh->view();
  tree.periodic = false;
  return {mesh,         tree,       mesh->unit(),
          box.redshift, box.hubble, fields_of(file, std::uint64_t(mesh->cells()), words_of_octrees)};
}

}  // namespace

extern const DatasetType octree_type;  // for the generated table
const DatasetType octree_type{
    .name = "octree",
    .meaning = "the leaves of a tree from a file ([octrees](octrees.md))",
    .model = false,
    .flows = false,
    .gridded = true,
    .peak = 0,
    .add_keys = [](config::Section<config::Dataset>&) {},  // those of a uniform grid
    .outline = outline_octree,
    .add_cells = add_octree_cells,
    .divide = divide_octree,
    .find_dropped =
        [](const MediumOutline& m, const config::Dataset& dataset, const Line& line, const comm::World& world,
           int threads) { return find_dropped_of_mesh(m, dataset, line, world, threads, words_of_octrees); },
    .is_in = is_octree,
    .mesh_of_rays = octree_of_rays};

}  // namespace thor
