#include "thor/gridding/grid_particles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "thor/core/memory.hpp"
#include "thor/core/progress.hpp"
#include "thor/gridding/census.hpp"
#include "thor/gridding/cube.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/deposit/tree.hpp"
#include "thor/gridding/grid_columns.hpp"
#include "thor/gridding/grid_file.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

/// While the tree is made: of a gas element, and of a leaf beside its sums.
constexpr double bytes_of_element = 64, bytes_of_leaf = 120;

double bytes_of_sums(const FieldList& fields) { return 12. * fields.count; }  // with what is written

/// Error(input) if there is not enough memory.
void require_room(const GridOptions& options, double bytes, const std::string& what) {
  const double available = options.memory.value_or(available_memory());
  if (bytes <= available) return;
  throw Error(ExitCode::input, fmt::format("{} take {}, and {} are free: take a smaller region (--size), coarser "
                                           "leaves (--refine-number, --refine-mass) or a machine with more memory",
                                           what, size_text(bytes), size_text(available)));
}

OctreeTree build_tree(const Job& job, const Cube& cube, Progress& progress, std::uint64_t& done) {
  std::vector<std::array<double, 3>> places;
  std::vector<double> masses;
  const GridOptions& o = job.options;
  job.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    for (std::size_t i = 0; i < block.count; ++i) {
      if (!std::isfinite(block.position[3 * i] + block.position[3 * i + 1] + block.position[3 * i + 2])) continue;
      const auto x = place_in_cube(block, i, job, cube);
      if (!x) continue;
      places.push_back({(*x)[0] / cube.side + 0.5, (*x)[1] / cube.side + 0.5, (*x)[2] / cube.side + 0.5});
      masses.push_back(block.mass[i] > 0 ? block.mass[i] : 0);
    }
    require_room(o, bytes_of_element * double(places.size()), fmt::format("{} gas elements", places.size()));
    progress.update(done += block.count);
  });
  if (places.empty()) {
    refuse(job, "no gas in the region that has its centre there: check --centre and --size, or use --mesh uniform");
  }
  const Refinement rule{o.refine_number, o.refine_mass.value_or(std::numeric_limits<double>::infinity())};
  const std::vector<OctreeLeaf> leaves = refine(places, masses, rule);
  require_room(o, (bytes_of_leaf + bytes_of_sums(job.gas.fields)) * double(leaves.size()),
               fmt::format("{} leaves", leaves.size()));
  return {o.snapshot, leaves};
}

/// <rho^2>/<rho>^2.
struct Clumping {
  double mass = 0, square = 0;  ///< sums of rho V and rho^2 V, of a volume of 1
  void add(double density, double volume) { mass += density * volume, square += density * density * volume; }
  double ratio() const { return mass > 0 ? square / (mass * mass) : 0; }
};

std::string describe_leaves(const OctreeTree& tree, const Cube& cube) {
  std::map<std::int32_t, std::uint64_t> count;
  for (std::int64_t i = 0; i < tree.leaves(); ++i) ++count[tree.width(i)];
  std::vector<std::string> levels;
  const double kpc = 1e3 * constants::pc, finest = std::ldexp(cube.side, -tree.depth()) / kpc;
  for (const auto& [width, leaves] : count) levels.push_back(fmt::format("{} of {:.4g} kpc", leaves, finest * width));
  return fmt::format("leaves       {}: {}\nbox          {:.6g} kpc a side, {}\n", tree.leaves(),
                     fmt::join(levels, ", "), cube.side / kpc, cube.periodic ? "periodic" : "open");
}

/// The arrays of the leaves, with their values in place of the sums. Returns the number of empty leaves.
std::uint64_t write_values(io::ArrayOutput& file, const Job& job, const OctreeTree& tree, const TreeSums& sums) {
  const FieldList& fields = job.gas.fields;
  const std::vector<CellArray> arrays = cell_arrays(fields);
  const auto leaves = std::size_t(tree.leaves());
  std::vector<std::vector<float>> out(arrays.size(), std::vector<float>(leaves));
  std::vector<double> cell(std::size_t(fields.count));
  std::vector<float> values(cell.size());
  std::uint64_t empty = 0;
  for (std::size_t i = 0; i < leaves; ++i) {
    const double per_volume = std::pow(std::ldexp(1., tree.depth()) / tree.width(std::int64_t(i)), 3);
    for (std::size_t f = 0; f < cell.size(); ++f) cell[f] = sums.of(std::int64_t(i))[f] * per_volume;
    if (!(cell[mass] > 0)) ++empty;
    cell_values(cell.data(), fields, job.gas.model.solar_metallicity, values.data());
    for (std::size_t k = 0; k < arrays.size(); ++k) out[k][i] = values[std::size_t(arrays[k].field)];
  }
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    file.write("/" + arrays[k].name, out[k], arrays[k].units, arrays[k].description);
  }
  return empty;
}

void write_leaves(io::ArrayOutput& file, const OctreeTree& tree) {
  std::vector<std::int64_t> level, at[3];
  for (std::int64_t i = 0; i < tree.leaves(); ++i) {
    const std::int32_t width = tree.width(i);
    level.push_back(tree.depth() - std::lround(std::log2(width)));
    for (std::size_t k = 0; k < 3; ++k) at[k].push_back(tree.corner(i)[k] / width);
  }
  file.write("/level", level, "", "level of each leaf; 0: the box");
  for (std::size_t k = 0; k < 3; ++k) {
    file.write(std::string("/") + "xyz"[k], at[k], "", "its number among leaves of its level");
  }
}

}  // namespace

std::string grid_particles(const io::Snapshot& snapshot, const GridOptions& options) {
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
  }
  const Cube cube = cube_of(choose_lattice(snapshot.header(), options.region));
  if (options.dry_run) {
    const double bytes = (bytes_of_element + bytes_of_leaf + bytes_of_sums(gas.fields)) * double(snapshot.gas_count());
    if (options.memory) require_room(options, bytes, fmt::format("{} gas elements", snapshot.gas_count()));
    return fmt::format("leaves       fewer than gas elements, {}, where those are not in pairs; so many take {}\n",
                       snapshot.gas_count(), size_text(bytes));
  }
  GridRegion region = choose_region(snapshot, options.region);
  region.lattice = {{1, 1, 1}, cube.side, cube.periodic};
  std::vector<std::string> warnings;
  const Job job{options, snapshot, region, gas, warnings};
  for (const std::string& warning : snapshot.header().warnings) job.warn(warning);
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  io::ArrayOutput file(options.output, options.overwrite);
  Sources sources;
  find_sources(job, sources);
  Progress progress(options.quiet ? ProgressMode::never : options.progress, 2 * snapshot.gas_count(), "gas elements");
  std::uint64_t done = 0;
  const OctreeTree tree = build_tree(job, cube, progress, done);
  TreeSums sums(tree, gas.fields.count, cube.periodic);
  Gatherer census(region, gas, options.threads);
  Clumping of_elements, of_leaves;
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    const Particles particles = census.gather(block);
    census.count_cut(particles, sums.add(particles, options.threads));
    for (std::size_t i = 0; i < particles.count(); ++i) {
      const double amount = particles.amount[i * std::size_t(particles.fields) + mass];
      of_elements.add(amount / particles.volume[i], particles.volume[i]);
    }
    if (options.sources == SourceKind::sfr) {
      add_star_forming(block, census.used(), region, options.sfr_efficiency, sources);
    }
    progress.update(done += block.count);
  });
  progress.finish();
  refuse_bad_cells(job, census.defects());
  refuse_bad_sources(job, sources);
  const Budget budget = settle(job, census.totals(), in_cgs(sums.total(), gas.fields, region.lattice));
  for (std::int64_t i = 0; i < tree.leaves(); ++i) {
    const double volume = std::pow(std::ldexp(double(tree.width(i)), -tree.depth()), 3);
    of_leaves.add(sums.of(i)[mass] / volume, volume);
  }
  write_box_of_mesh(file, options, snapshot.header(), "thor octree", cube.side, cube.periodic);
  write_leaves(file, tree);
  const std::uint64_t empty = write_values(file, job, tree, sums);
  write_sources(file, sources, options.sources);
  write_provenance(file, {snapshot, options, gas, region, budget, census.defects(), census.totals(), warnings, empty});
  file.attribute("/gridding", "clumping", of_leaves.ratio());
  file.attribute("/gridding", "clumping_of_elements", of_elements.ratio());
  file.commit(options.overwrite);
  std::vector<std::string> names;
  for (const CellArray& array : cell_arrays(gas.fields)) names.push_back(array.name);
  if (options.sources != SourceKind::none && sources.count() > 0) names.emplace_back("sources");
  std::string wrote =
      fmt::format("wrote        {}: {} leaves with {}\n", options.output, tree.leaves(), fmt::join(names, ", "));
  if (options.quiet) return wrote;
  return describe_leaves(tree, cube) + describe_gas_found(job, census) +
         fmt::format(
             "empty leaves {} of {}, set to {:.0e} K\nclumping     {:.4g} of the leaves, {:.4g} of the gas "
             "elements: <rho^2>/<rho>^2\n",
             empty, tree.leaves(), empty_temperature, of_leaves.ratio(), of_elements.ratio()) +
         describe_clamped(gas.model) + describe_sources(options, sources) + budget.to_text() + wrote;
}

}  // namespace thor::gridding
