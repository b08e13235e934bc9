#include "thor/gridding/grid_voronoi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "thor/core/memory.hpp"
#include "thor/datasets/voronoi_mesh_builder.hpp"
#include "thor/gridding/grid_columns.hpp"
#include "thor/gridding/job.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

/// While the mesh is built, a site takes this many bytes.
constexpr double bytes_of_site = 1200;

/// A cube, open or the whole periodic box, with its middle in the origin.
struct Cube {
  double side;
  bool periodic;
};
Cube cube_of(const Lattice& lattice) {
  const auto [least, most] = std::ranges::minmax(lattice.cells);
  if (least != most) {
    throw Error(ExitCode::usage, fmt::format("--size: a Voronoi mesh fills a cube, not {} x {} x {} kpc: give one side",
                                             lattice.cell * double(lattice.cells[0]) / (1e3 * constants::pc),
                                             lattice.cell * double(lattice.cells[1]) / (1e3 * constants::pc),
                                             lattice.cell * double(lattice.cells[2]) / (1e3 * constants::pc)));
  }
  return {lattice.cell * double(lattice.cells[0]), lattice.periodic};
}

/// The sites inside of the cube, and their gas.
struct Sites {
  std::vector<std::array<double, 3>> at;
  GasColumns columns;
  std::uint64_t outside = 0;

  explicit Sites(const FieldList& fields) : columns(fields) {}
  void add(const io::GasBlock& block, const Job& job, const Cube& cube);
};

void Sites::add(const io::GasBlock& block, const Job& job, const Cube& cube) {
  const Frame& frame = job.region.frame;
  const double half = 0.5 * cube.side;
  for (std::size_t i = 0; i < block.count; ++i) {
    Vector x = frame.rotation * frame.from_centre(vector_at(block.position, i));
    if (!std::isfinite(x[0] + x[1] + x[2])) {
      refuse(job, fmt::format("gas element {} has no position", at.size() + outside));
    }
    if (cube.periodic) {
      for (double& k : x) k = std::clamp(k - cube.side * std::round(k / cube.side), -half, half);
    }
    if (std::ranges::any_of(x, [&](double k) { return !(k >= -half && k <= half); })) {
      ++outside;
      continue;
    }
    at.push_back({x[0], x[1], x[2]});
    columns.add(block, i, frame.turned(vector_at(block.velocity, i)), job.gas);
  }
}

/// Builds the mesh to see what it makes of the gas.
std::string describe(const Job& job, const Cube& cube, const Sites& sites) {
  const double half = 0.5 * cube.side, kpc = 1e3 * constants::pc;
  const VoronoiFaces mesh = build_voronoi(job.options.snapshot, sites.at, {-half, -half, -half},
                                          {cube.side, cube.side, cube.side}, cube.periodic, job.options.threads);
  std::vector<double> volumes(sites.at.size(), 0.);
  std::vector<bool> seen(mesh.volumes.size(), false);
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::uint32_t cell = mesh.site_of[i];
    if (!seen[cell]) volumes[i] = mesh.volumes[cell];
    seen[cell] = true;
  }
  const auto [least, most] = std::ranges::minmax_element(mesh.volumes);
  return fmt::format(
      "sites        {} of {} gas elements{}\nbox          {:.6g} kpc a side, {}\ncells        {:.4g} to {:.4g} kpc "
      "(cube roots of volumes), {:.4g} faces each, {} at most\n{}{}",
      mesh.sites.size(), sites.at.size() + sites.outside,
      mesh.merged > 0 ? fmt::format(", {} stand where another one does", mesh.merged) : "", cube.side / kpc,
      cube.periodic ? "periodic" : "open", std::cbrt(*least) / kpc, std::cbrt(*most) / kpc,
      double(mesh.faces.size()) / double(mesh.sites.size()), mesh.most_faces, describe_columns(sites.columns, volumes),
      sites.columns.bad ? fmt::format("bad elements {}, made empty\n", sites.columns.bad) : "");
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
  Sites sites(gas.fields);
  const double bytes_of_all = bytes_of_site + sites.columns.bytes_of_element();
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
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    sites.add(block, job, cube);
    require_room(options, bytes_of_all * double(sites.at.size()), sites.at.size());
    if (options.sources == SourceKind::sfr) {
      add_star_forming(block, std::vector<unsigned char>(block.count, 1), region, options.sfr_efficiency, sources);
    }
  });
  if (sites.at.empty()) refuse(job, "no gas in the region: check --centre and --size");
  refuse_bad_elements(options, sites.columns, "gas elements");
  refuse_bad_sources(job, sources);
  const std::string text = describe(job, cube, sites);
  write_box_of_mesh(file, options, snapshot.header(), "thor sites", cube.side, cube.periodic);
  std::vector<double> along(sites.at.size());
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < along.size(); ++i) along[i] = sites.at[i][k];
    file.write(std::string("/") + "xyz"[k], along, "cm", "of each site");
  }
  std::vector<std::string> names = sites.columns.write(file);
  write_sources(file, sources, options.sources);
  if (options.sources != SourceKind::none && sources.count() > 0) names.emplace_back("sources");
  file.commit(options.overwrite);
  const std::string wrote = fmt::format("wrote {}: {}\n", options.output, fmt::join(names, ", "));
  return options.quiet ? wrote : text + describe_sources(options, sources) + wrote;
}

}  // namespace thor::gridding
