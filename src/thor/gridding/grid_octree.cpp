#include "thor/gridding/grid_octree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "thor/core/memory.hpp"
#include "thor/gridding/grid_columns.hpp"
#include "thor/gridding/job.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/array/output.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

/// Where the leaves are.
struct Leaves {
  std::vector<std::int64_t> level, at[3];
};

std::string describe(const io::Snapshot& snapshot, const Leaves& leaves, const GasColumns& columns) {
  std::map<std::int64_t, std::uint64_t> count;
  std::vector<double> volumes;
  const double kpc = 1e3 * constants::pc, side = snapshot.header().box[0];
  for (const std::int64_t level : leaves.level) {
    ++count[level];
    volumes.push_back(std::pow(std::ldexp(side, -int(level)), 3));
  }
  std::vector<std::string> levels;
  for (const auto& [level, leaves_there] : count) {
    levels.push_back(fmt::format("{} of {:.4g} kpc", leaves_there, std::ldexp(side, -int(level)) / kpc));
  }
  return fmt::format("leaves       {}: {}\nbox          {:.6g} kpc a side\n{}{}", leaves.level.size(),
                     fmt::join(levels, ", "), side / kpc, describe_columns(columns, volumes),
                     columns.bad ? fmt::format("bad leaves   {}, made empty\n", columns.bad) : "");
}

}  // namespace

std::string grid_octree(const io::Snapshot& snapshot, const GridOptions& options) {
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
    for (const auto& warning : snapshot.header().warnings) say_warning(warning);
  }
  GasColumns columns(gas.fields);
  const double bytes = double(snapshot.gas_count()) * (32. + columns.bytes_of_element()),
               available = available_memory();
  if (bytes > available) {
    throw Error(ExitCode::input, fmt::format("{} leaves take {}, and {} are free: take a machine with more memory",
                                             snapshot.gas_count(), size_text(bytes), size_text(available)));
  }
  if (options.dry_run) return fmt::format("leaves       {}, which take {}\n", snapshot.gas_count(), size_text(bytes));
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  io::ArrayOutput file(options.output, options.overwrite);
  const GridRegion region = choose_region(snapshot, options.region);
  std::vector<std::string> warnings;
  const Job job{options, snapshot, region, gas, warnings};
  Sources sources;
  find_sources(job, sources);
  refuse_bad_sources(job, sources);
  Leaves leaves;
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    for (std::size_t i = 0; i < block.count; ++i) {
      leaves.level.push_back(block.level[i]);
      for (std::size_t k = 0; k < 3; ++k) leaves.at[k].push_back(block.cell[3 * i + k]);
      columns.add(block, i, {block.velocity[3 * i], block.velocity[3 * i + 1], block.velocity[3 * i + 2]}, gas);
    }
  });
  refuse_bad_elements(options, columns, "leaves");
  const io::SnapshotHeader& header = snapshot.header();
  write_box_of_mesh(file, options, header, "thor octree", header.box[0],
                    options.region.periodic.value_or(header.cosmological));
  file.write("/level", leaves.level, "", "level of each leaf; 0: the box");
  for (std::size_t k = 0; k < 3; ++k) {
    file.write(std::string("/") + "xyz"[k], leaves.at[k], "", "its number among leaves of its level");
  }
  std::vector<std::string> names = columns.write(file);
  write_sources(file, sources, options.sources);
  if (options.sources != SourceKind::none && sources.count() > 0) names.emplace_back("sources");
  file.commit(options.overwrite);
  const std::string wrote = fmt::format("wrote {}: {}\n", options.output, fmt::join(names, ", "));
  return options.quiet ? wrote : describe(snapshot, leaves, columns) + describe_sources(options, sources) + wrote;
}

}  // namespace thor::gridding
