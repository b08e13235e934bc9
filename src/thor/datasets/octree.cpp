#include "thor/datasets/octree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/datasets/bad_cells.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/gas_arrays.hpp"
#include "thor/datasets/octree_mesh.hpp"

/// Octrees from files: docs/octrees.md.
namespace thor {
namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  throw Error(ExitCode::input, path + ": " + what);
}

double number_of_box(const io::Input& file, const std::string& name, std::optional<double> fallback = {}) {
  const std::string path = file.path().string();
  if (file.text("/", name) || file.numbers("/", name).size() > 1) {
    refuse_file(path, fmt::format("attribute \"{}\" of the root group is no number", name));
  }
  const auto value = file.number("/", name);
  if (!value && fallback) return *fallback;
  if (!value)
    refuse_file(path, fmt::format("no attribute \"{}\" in the root group: not an octree (docs/octrees.md){}", name,
                                  file.number("/", "cell_size") ? ", but a grid: dataset.type: uniform_grid" : ""));
  if (!std::isfinite(*value)) refuse_file(path, fmt::format("attribute \"{}\" is not a number", name));
  return *value;
}

OctreeBox read_box(const io::Input& file, const config::Dataset& dataset) {
  const std::string& path = dataset.path;
  OctreeBox box;
  box.size = number_of_box(file, "box_size");
  if (!(box.size > 0 && box.size < 1e32)) {
    refuse_file(path, fmt::format("attribute box_size is {}; expected the side of the box, above 0, in cm", box.size));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    box.origin[k] = number_of_box(file, "origin_" + std::string(1, "xyz"[k]));
    if (!(std::abs(box.origin[k]) < 1e6 * box.size)) {
      refuse_file(
          path, fmt::format("the origin {:.3g} cm is more than 1e6 sides of the box away: use coordinates relative to "
                            "the gas",
                            box.origin[k]));
    }
  }
  box.periodic = number_of_box(file, "periodic", 0) != 0;
  if (dataset.boundary != config::Boundary::file) box.periodic = dataset.boundary == config::Boundary::periodic;
  box.redshift = number_of_box(file, "redshift", 0);
  box.hubble = dataset.hubble_flow ? number_of_box(file, "hubble", 0) : 0;
  if (!(box.redshift > -1 && box.redshift < 1e4)) {
    refuse_file(path, fmt::format("attribute redshift is {}; expected a value above -1 and below 10000", box.redshift));
  }
  if (!(box.hubble >= 0 && box.hubble * box.size < 3 * constants::c)) {
    refuse_file(path,
                fmt::format("attribute hubble is {}; expected H in 1/s, and a box that light crosses", box.hubble));
  }
  return box;
}

bool is_place(const std::string& array) { return array == "level" || array == "x" || array == "y" || array == "z"; }

/// The number of leaves, which all arrays have.
std::uint64_t count_leaves(const io::Input& file, const std::vector<std::string>& arrays) {
  const std::string path = file.path().string();
  const std::vector<std::string> there = file.children("/");
  std::uint64_t count = 0;
  for (const std::string& name : arrays) {
    if (!file.has(name)) {
      refuse_file(path, fmt::format("no array \"{}\"{} (arrays: {})", name, config::suggestion(name, there),
                                    fmt::join(there, ", ")));
    }
    const io::ArrayInfo info = file.array(name);
    if (is_place(name) && info.type.starts_with("float")) {
      refuse_file(path,
                  fmt::format("array \"{}\" is {}; expected whole numbers: the level of each leaf, and its numbers "
                              "among the leaves of that level, from 0",
                              name, info.type));
    }
    if (!info.numeric || info.shape.size() != 1 || info.shape[0] == 0) {
      refuse_file(path, fmt::format("array \"{}\" is {} with {} dimensions; expected a number for each leaf", name,
                                    info.type, info.shape.size()));
    }
    if (count == 0) count = info.shape[0];
    if (info.shape[0] != count) {
      refuse_file(path, fmt::format("array \"{}\" has {} numbers and \"{}\" {}: expected one for each leaf", name,
                                    info.shape[0], arrays.front(), count));
    }
    file.require_whole(name);
  }
  return count;
}

/// While it is built, a leaf takes this many bytes, most of them for a moment.
constexpr double bytes_of_leaf = 90;

std::shared_ptr<const OctreeTree> read_tree(const io::Input& file) {
  const std::uint64_t count = count_leaves(file, {"level", "x", "y", "z"});
  if (const double bytes = bytes_of_leaf * double(count), available = available_memory(1); bytes > available) {
    refuse_file(file.path().string(), fmt::format("an octree of {} leaves takes {} to build, {} are free: take fewer "
                                                  "leaves, or a machine with more memory",
                                                  count, size_text(bytes), size_text(available)));
  }
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
  const OctreeBox box = read_box(file, dataset);
  std::vector<std::string> needed = {"level"};
  for (const std::string& name : gas_arrays(file, dataset, line).all()) needed.push_back(name);
  if (file.has(turbulence_field)) needed.emplace_back(turbulence_field);
  if (dataset.dust) needed.push_back(dataset.dust_field);
  count_leaves(file, needed);
  const auto mesh = std::make_shared<const OctreeMesh>(read_tree(file), box);
  MediumOutline m{};
  m.mesh = mesh;
  m.size = mesh->unit(), m.redshift = box.redshift, m.hubble = box.hubble;
  outline_cells(m, dataset, line, refuse);
  Octree<double> tree = mesh->tree().view();
  tree.periodic = box.periodic;
  for (std::size_t k = 0; k < 3; ++k) tree.zero[k] = -mesh->low()[k];
  m.dataset = tree;
  return m;
}

void add_octree_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options) {
  const auto mesh = std::dynamic_pointer_cast<const OctreeMesh>(m.mesh);
  const auto read = [&](const std::string& field, const TakeValue& take) {
    mesh->read_field(dataset.path, field, options.threads, take);
  };
  const double fastest = dataset.packed ? std::max(fastest_velocity(dataset, line, read), 1e-30) : 0;
  const auto cells = std::make_shared<OctreeCells>(mesh, CellLayout{dataset.packed, dataset.dust.has_value(), false},
                                                   units_of(m, dataset, line), fastest);
  BadCells bad(cells->cells());
  const GasSource source{dataset, line, read,
                         [&](const std::string& what, std::int64_t i, double value) { bad.add(what, i, value); }};
  warn_of_other_gas(source);
  fill_gas(source, cells->cells(), options.threads, *cells);
  bad.end(dataset, *cells, [&](std::int64_t leaf) {
    const auto centre = mesh->centre(mesh->place(leaf));
    const double kpc = mesh->unit() / (1e3 * constants::pc);
    return fmt::format("the leaf around {:.6g}, {:.6g}, {:.6g} kpc", centre[0] * kpc, centre[1] * kpc, centre[2] * kpc);
  });
  cells->survey(options.threads, options.core_skip, m.hubble * m.size / cells->units().reference_speed);
  m.cells = cells, m.dropped = cells->dropped(), m.statistics = cells->statistics();
  say_dropped(dataset, m.dropped);
  m.number_density = m.statistics.mean_density();
  m.column_density = m.number_density * m.size * mesh->sides()[2];
  m.tau0 = m.column_density * m.cross_section;
  auto& tree = std::get<Octree<double>>(m.dataset);
  tree.gas = cells->records();
  tree.physics = physics_of(m, dataset, line, m.statistics.fastest, options.dust_depth);
  warn_of_cells(m, tree.physics.stop, 1, dataset, line);
}

bool is_octree(const io::Input& file) { return file.number("/", "box_size") && file.has("/level"); }

RayMesh octree_of_rays(const config::Dataset& dataset) {
  const io::Input file(dataset.path);
  const OctreeBox box = read_box(file, dataset);
  const auto mesh = std::make_shared<const OctreeMesh>(read_tree(file), box);
  Octree<double> tree = mesh->tree().view();
  for (std::size_t k = 0; k < 3; ++k) tree.zero[k] = -mesh->low()[k];
  const std::vector<std::uint64_t> one_a_leaf{std::uint64_t(mesh->cells())};
  std::vector<std::string> fields = arrays_where(file, [&](const auto& info) { return info.shape == one_a_leaf; });
  std::erase_if(fields, is_place);
  return {mesh, tree, mesh->unit(), box.redshift, box.hubble, fields};
}

}  // namespace

extern const DatasetType octree_type;  // for the generated table
const DatasetType octree_type{.name = "octree",
                              .meaning = "the leaves of a tree from a file ([octrees](octrees.md))",
                              .model = false,
                              .flows = false,
                              .gridded = true,
                              .peak = 0,
                              .add_keys = [](config::Section<config::Dataset>&) {},  // those of a uniform grid
                              .outline = outline_octree,
                              .add_cells = add_octree_cells,
                              .is_in = is_octree,
                              .mesh_of_rays = octree_of_rays};

}  // namespace thor
