#include "thor/gridding/grid_voronoi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "thor/core/memory.hpp"
#include "thor/datasets/voronoi_mesh_builder.hpp"
#include "thor/gridding/cube.hpp"
#include "thor/gridding/grid_columns.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

/// While the mesh is built, a site takes this many bytes.
constexpr double bytes_of_site = 1200;

/// The mesh of the sites inside of the cube.
struct Mesh {
  std::vector<std::array<double, 3>> at;  ///< in the order of the snapshot
  VoronoiFaces faces{};
  std::vector<double> mass{};          ///< of each, and then of each cell [g]
  std::vector<std::size_t> element{};  ///< of each cell: the first of its gas elements

  /// The cell of a gas element; -1: an earlier one has it.
  std::int64_t cell_of(std::size_t i) const { return element[faces.site_of[i]] == i ? faces.site_of[i] : -1; }
};

Mesh build_mesh(const Job& job, const Cube& cube, const std::function<void(std::size_t)>& require_room) {
  Mesh mesh;
  job.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    for (std::size_t i = 0; i < block.count; ++i) {
      if (const auto x = place_in_cube(block, i, job, cube)) {
        mesh.at.push_back({(*x)[0], (*x)[1], (*x)[2]}), mesh.mass.push_back(block.mass[i]);
      }
    }
    require_room(mesh.at.size());
  });
  if (mesh.at.empty()) refuse(job, "no gas in the region: check --centre and --size");
  const double half = 0.5 * cube.side;
  mesh.faces = build_voronoi(job.options.snapshot, mesh.at, {-half, -half, -half}, {cube.side, cube.side, cube.side},
                             cube.periodic, job.options.threads);
  mesh.element.assign(mesh.faces.sites.size(), 0);
  std::vector<double> mass(mesh.faces.sites.size(), 0.);
  for (std::size_t i = mesh.at.size(); i-- > 0;) {
    mesh.element[mesh.faces.site_of[i]] = i, mass[mesh.faces.site_of[i]] += mesh.mass[i];
  }
  mesh.mass = std::move(mass);
  return mesh;
}

/// The gas of the cells, in the order of the snapshot.
GasColumns read_gas(const Job& job, const Cube& cube, const Mesh& mesh, Sources& sources) {
  const GridOptions& o = job.options;
  GasColumns columns(job.gas.fields);
  std::size_t site = 0;
  job.snapshot.for_each_gas(block_size, [&](const io::GasBlock& given) {
    io::GasBlock block = given;
    for (std::size_t i = 0; i < block.count; ++i) {
      if (!place_in_cube(block, i, job, cube)) continue;
      const std::int64_t cell = mesh.cell_of(site++);
      if (cell < 0) continue;
      if (o.density_of_cells) {
        block.mass[i] = mesh.mass[std::size_t(cell)];
        block.density[i] = block.mass[i] / mesh.faces.volumes[std::size_t(cell)];
      }
      columns.add(block, i, job.region.frame.turned(vector_at(block.velocity, i)), job.gas);
    }
    if (o.sources == SourceKind::sfr) {
      add_star_forming(block, std::vector<unsigned char>(block.count, 1), job.region, o.sfr_efficiency, sources);
    }
  });
  return columns;
}

/// Volumes of cells in the order of the snapshot.
std::vector<double> volumes_of(const Mesh& mesh) {
  std::vector<double> volumes;
  for (std::size_t i = 0; i < mesh.at.size(); ++i) {
    if (const std::int64_t cell = mesh.cell_of(i); cell >= 0) volumes.push_back(mesh.faces.volumes[std::size_t(cell)]);
  }
  return volumes;
}

std::string describe(const Cube& cube, const Mesh& mesh, const GasColumns& columns, std::uint64_t elements) {
  const double kpc = 1e3 * constants::pc;
  const auto [least, most] = std::ranges::minmax_element(mesh.faces.volumes);
  return fmt::format(
      "sites        {} of {} gas elements{}\nbox          {:.6g} kpc a side, {}\ncells        {:.4g} to {:.4g} kpc "
      "(cube roots of volumes), {:.4g} faces each, {} at most\n{}{}",
      mesh.faces.sites.size(), elements,
      mesh.faces.merged > 0 ? fmt::format(", {} stand where another one does", mesh.faces.merged) : "", cube.side / kpc,
      cube.periodic ? "periodic" : "open", std::cbrt(*least) / kpc, std::cbrt(*most) / kpc,
      double(mesh.faces.faces.size()) / double(mesh.faces.sites.size()), mesh.faces.most_faces,
      describe_columns(columns, volumes_of(mesh)),
      columns.bad ? fmt::format("bad elements {}, made empty\n", columns.bad) : "");
}

/// Densities that are not those of the cells: the mesh then has another mass than the snapshot.
void warn_of_mass(const Job& job, const GasColumns& columns, const Mesh& mesh) {
  constexpr double much = 0.03;
  if (mesh.faces.merged > 0) {
    job.warn(fmt::format("{} of {} gas elements stand where another one does{}", mesh.faces.merged, mesh.at.size(),
                         job.options.density_of_cells ? "; their masses are added" : "; the first is taken"));
  }
  const double ratio = mass_of_cells(columns, volumes_of(mesh)) / columns.sums[mass];
  if (std::abs(ratio - 1) < much) return;
  job.warn(
      fmt::format("the cells hold {:.3g} times the mass of their gas elements: densities of the snapshot are not those "
                  "of a Voronoi mesh (SPH, or a region with cells cut off); --density mass takes mass over volume",
                  ratio));
}

void require_room(const GridOptions& options, double bytes, std::uint64_t count) {
  const double available = options.memory.value_or(available_memory());
  if (bytes <= available) return;
  throw Error(ExitCode::input,
              fmt::format("{} sites take {}, and {} are free: take a smaller region (--size), or a machine with more "
                          "memory",
                          count, size_text(bytes), size_text(available)));
}

}  // namespace

std::string grid_voronoi(const GridOptions& options) {
  const io::Snapshot snapshot(options.snapshot, options.read);
  if (snapshot.has("level")) {
    throw Error(ExitCode::usage,
                fmt::format("--mesh voronoi: {} has the leaves of a tree: use --mesh octree", options.snapshot));
  }
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
  }
  const Cube cube = cube_of(choose_lattice(snapshot.header(), options.region));
  const double bytes_of_all = bytes_of_site + GasColumns(gas.fields).bytes_of_element();
  if (options.dry_run) {
    const double bytes = bytes_of_all * double(snapshot.gas_count());
    return fmt::format("sites        at most {}, which take {}\n", snapshot.gas_count(), size_text(bytes));
  }
  const GridRegion region = choose_region(snapshot, options.region);
  std::vector<std::string> warnings;
  const Job job{options, snapshot, region, gas, warnings};
  for (const std::string& warning : snapshot.header().warnings) job.warn(warning);
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  io::ArrayOutput file(options.output, options.overwrite);
  Sources sources;
  find_sources(job, sources);
  const Mesh mesh =
      build_mesh(job, cube, [&](std::size_t count) { require_room(options, bytes_of_all * double(count), count); });
  const GasColumns columns = read_gas(job, cube, mesh, sources);
  refuse_bad_elements(options, columns, "gas elements");
  refuse_bad_sources(job, sources);
  warn_of_mass(job, columns, mesh);
  write_box_of_mesh(file, options, snapshot.header(), "thor sites", cube.side, cube.periodic);
  std::vector<double> along;
  for (std::size_t k = 0; k < 3; ++k) {
    along.clear();
    for (std::size_t i = 0; i < mesh.at.size(); ++i) {
      if (mesh.cell_of(i) >= 0) along.push_back(mesh.at[i][k]);
    }
    file.write(std::string("/") + "xyz"[k], along, "cm", "of each site");
  }
  std::vector<std::string> names = columns.write(file);
  write_sources(file, sources, options.sources);
  if (options.sources != SourceKind::none && sources.count() > 0) names.emplace_back("sources");
  file.attribute("/", "density", std::string_view(options.density_of_cells ? "mass over volume" : "of the snapshot"));
  file.attribute("/", "warnings", std::string_view(fmt::format("{}", fmt::join(warnings, "\n"))));
  file.commit(options.overwrite);
  const std::string wrote = fmt::format("wrote {}: {}\n", options.output, fmt::join(names, ", "));
  return options.quiet
             ? wrote
             : describe(cube, mesh, columns, snapshot.gas_count()) + describe_sources(options, sources) + wrote;
}

}  // namespace thor::gridding
