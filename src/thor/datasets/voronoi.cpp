#include "thor/datasets/voronoi.hpp"

#include "thor/config/section.hpp"
#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/voronoi_mesh.hpp"
#include "thor/io/array/units.hpp"

/// Voronoi meshes from files of sites: docs/voronoi.md.
namespace thor {
namespace {

/// While it is built, a mesh takes this many bytes for each site.
constexpr double bytes_of_site = 1200;

void add_voronoi_keys(config::Section<config::Dataset>& s) {
  s.boolean(
      "compact", &config::Dataset::compact,
      {.meaning = "92 bytes per cell for the [mesh](voronoi.md#memory) instead of 302, for the same photons in more "
                  "time",
       .fallback = "false",
       .when = {"type", {"voronoi"}}});
}

std::shared_ptr<const VoronoiMesh> read_mesh(const io::Input& file, const MeshBox& box, bool compact) {
  if (file.has("/level")) {
    throw Error(ExitCode::input, file.path().string() + ": no file of sites, but an octree: dataset.type: octree");
  }
  const std::uint64_t count = count_cells(file, {"x", "y", "z"}, words_of_sites);
  require_free(file.path().string(), count, bytes_of_site * double(count), " to build", words_of_sites);
  std::vector<std::array<double, 3>> sites(count);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string axis(1, "xyz"[k]);
    const double unit = io::cgs_unit(file, axis, Dimension::length);
    const auto at = file.read_all<double>(axis);
    for (std::uint64_t i = 0; i < count; ++i) sites[i][k] = at[i] * unit;
  }
  return std::make_shared<const VoronoiMesh>(file.path().string(), std::move(sites), box, compact, available_threads());
}

MediumOutline outline_voronoi(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  const io::Input file(dataset.path);
  const MeshBox box = read_box(file, dataset, words_of_sites);
  count_cells(file, dataset, line, words_of_sites);
  const auto mesh = read_mesh(file, box, dataset.compact);
  MediumOutline m{};
  m.mesh = mesh;
  m.size = mesh->unit(), m.redshift = box.redshift, m.hubble = box.hubble;
  outline_cells(m, dataset, line, refuse);
  m.dataset = mesh->view();
  return m;
}

void add_voronoi_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options) {
  const auto mesh = std::dynamic_pointer_cast<const VoronoiMesh>(m.mesh);
  add_mesh_cells(m, dataset, line, options, words_of_sites,
                 [mesh](const auto& part, const CellLayout& layout, const CellUnits& units, double fastest) {
                   return std::make_shared<VoronoiCells>(mesh, part, layout, units, fastest);
                 });
}

std::shared_ptr<const Partition> divide_voronoi(const MediumOutline& m, const Cut& cut) {
  const auto mesh = std::dynamic_pointer_cast<const VoronoiMesh>(m.mesh);
  return std::make_shared<MeshPartition>(
      mesh, cut, 2, [mesh](std::int64_t cell, std::int64_t first, std::int64_t end, const auto& take) {
        const Voronoi<double> data = mesh->view();
        view<double>(data).for_each_face(cell, [&](Vec3<double>, std::int64_t behind) {
          if (behind >= 0 && (behind < first || behind >= end)) take(behind);
        });
      });
}

bool is_voronoi(const io::Input& file) { return file.number("/", "box_size") && file.has("/x") && !file.has("/level"); }

RayMesh voronoi_of_rays(const config::Dataset& dataset) {
  const io::Input file(dataset.path);
  const MeshBox box = read_box(file, dataset, words_of_sites);
  const auto mesh = read_mesh(file, box, dataset.compact);
  return {mesh,         mesh->view(), mesh->unit(),
          box.redshift, box.hubble,   fields_of(file, count_cells(file, {"x"}, words_of_sites), words_of_sites)};
}

}  // namespace

extern const DatasetType voronoi_type;  // for the generated table
const DatasetType voronoi_type{
    .name = "voronoi",
    .meaning = "the Voronoi mesh of sites from a file ([Voronoi meshes](voronoi.md))",
    .model = false,
    .flows = false,
    .gridded = true,
    .peak = 0,
    .add_keys = add_voronoi_keys,  // beside those of a uniform grid
    .outline = outline_voronoi,
    .add_cells = add_voronoi_cells,
    .divide = divide_voronoi,
    .find_dropped = [](const MediumOutline& m, const config::Dataset& dataset, const Line& line,
                       const comm::World& world,
                       int threads) { return find_dropped_of_mesh(m, dataset, line, world, threads, words_of_sites); },
    .is_in = is_voronoi,
    .mesh_of_rays = voronoi_of_rays};

}  // namespace thor
