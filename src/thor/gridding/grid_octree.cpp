#include "thor/gridding/grid_octree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "thor/core/cosmology.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/version.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/filler.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/array/output.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

/// The leaves, and an array for each quantity.
struct Leaves {
  std::vector<std::int64_t> level, at[3];
  std::vector<std::vector<float>> columns;
  std::vector<double> sums;
  std::uint64_t bad = 0;
};

/// What a grid has in one of its arrays, of a leaf.
double value_of(const FieldList& fields, int field, const GasState& state, const std::array<double, 3>& velocity,
                double solar, const std::vector<double>& amounts) {
  for (int s = 0; s < fields.species(); ++s) {
    const int first = fields.moment(s, 0);
    if (field == first + moment_T) return state.temperature;
    for (int a = 0; a < 3; ++a) {
      if (field == first + moment_vx + a) return velocity[std::size_t(a)] / constants::km;
    }
  }
  if (field >= momentum_x && field <= momentum_z) return velocity[std::size_t(field - momentum_x)] / constants::km;
  if (field == energy) return state.temperature;
  if (field == fields.metals) return state.metallicity / solar;
  return amounts[std::size_t(field)] / state.volume;
}

void add(const io::GasBlock& block, const GasOptions& gas, const std::vector<CellArray>& arrays, Leaves& leaves) {
  std::vector<double> out(std::size_t(gas.fields.count));
  for (std::size_t i = 0; i < block.count; ++i) {
    leaves.level.push_back(block.level[i]);
    for (std::size_t k = 0; k < 3; ++k) leaves.at[k].push_back(block.cell[3 * i + k]);
    const std::array<double, 3> velocity{block.velocity[3 * i], block.velocity[3 * i + 1], block.velocity[3 * i + 2]};
    const bool positive = block.density[i] > 0 && block.internal_energy[i] > 0;
    const GasState state = positive ? gas_state(block, i, gas.model) : GasState{};
    const double speed = std::hypot(velocity[0], velocity[1], velocity[2]);
    if (!positive || !(state.temperature <= hottest_gas) || !(speed <= fastest_gas)) {
      ++leaves.bad;
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        leaves.columns[k].push_back(arrays[k].units == "K" ? float(empty_temperature) : 0);
      }
      continue;
    }
    amounts(block, i, state, gas.model, velocity, gas.fields, out.data());
    for (std::size_t k = 0; k < out.size(); ++k) leaves.sums[k] += out[k];
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      leaves.columns[k].push_back(
          float(value_of(gas.fields, arrays[k].field, state, velocity, gas.model.solar_metallicity, out)));
    }
  }
}

std::string describe(const io::Snapshot& snapshot, const Leaves& leaves) {
  std::map<std::int64_t, std::uint64_t> count;
  for (const std::int64_t level : leaves.level) ++count[level];
  std::vector<std::string> levels;
  const double kpc = 1e3 * constants::pc, side = snapshot.header().box[0];
  for (const auto& [level, leaves_there] : count) {
    levels.push_back(fmt::format("{} of {:.4g} kpc", leaves_there, std::ldexp(side, -int(level)) / kpc));
  }
  return fmt::format(
      "leaves       {}: {}\nbox          {:.6g} kpc a side\nmass         {:.6g} Msun\nHI           {:.6g} of the "
      "hydrogen\n{}",
      leaves.level.size(), fmt::join(levels, ", "), side / kpc, leaves.sums[mass] / emission::solar_mass,
      leaves.sums[HI] / std::max(leaves.sums[HI] + leaves.sums[HII], 1e-300),
      leaves.bad ? fmt::format("bad leaves   {}, made empty\n", leaves.bad) : "");
}

}  // namespace

std::string grid_octree(const GridOptions& options) {
  const io::Snapshot snapshot(options.snapshot, options.read);
  if (!snapshot.has("level")) {
    throw Error(ExitCode::usage, fmt::format("--mesh octree: {} has no leaves, as outputs of RAMSES have: use --mesh "
                                             "uniform",
                                             options.snapshot));
  }
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
    for (const auto& warning : snapshot.header().warnings) say_warning(warning);
  }
  const std::vector<CellArray> arrays = cell_arrays(gas.fields);
  const double bytes = double(snapshot.gas_count()) * (32. + 4. * double(arrays.size())),
               available = available_memory();
  if (bytes > available) {
    throw Error(ExitCode::input, fmt::format("{} leaves take {}, and {} are free: take a machine with more memory",
                                             snapshot.gas_count(), size_text(bytes), size_text(available)));
  }
  if (options.dry_run) return fmt::format("leaves       {}, which take {}\n", snapshot.gas_count(), size_text(bytes));
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  io::ArrayOutput file(options.output, options.overwrite);
  Leaves leaves;
  leaves.columns.resize(arrays.size()), leaves.sums.resize(std::size_t(gas.fields.count));
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) { add(block, gas, arrays, leaves); });
  if (leaves.bad > 0 && options.on_bad_cells == OnBadCells::error) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} of {} leaves have a density or a pressure that is not above 0, or gas "
                            "that is too hot or too fast; --on-bad-cells drop makes them empty",
                            options.snapshot, leaves.bad, leaves.level.size()));
  }
  const io::SnapshotHeader& header = snapshot.header();
  file.attribute("/", "format", std::string_view("thor octree"));
  file.attribute("/", "thor_version", std::string_view(version));
  file.attribute("/", "git_commit", std::string_view(git_commit));
  file.attribute("/", "snapshot", std::string_view(options.snapshot));
  file.attribute("/", "box_size", header.box[0]);
  for (const char* axis : {"origin_x", "origin_y", "origin_z"}) file.attribute("/", axis, -0.5 * header.box[0]);
  file.attribute("/", "periodic", options.region.periodic.value_or(header.cosmological));
  file.attribute("/", "redshift", header.redshift);
  file.attribute(
      "/", "hubble",
      header.cosmological ? Cosmology{header.h, header.omega_m, header.omega_lambda}.hubble(header.redshift) : 0.);
  file.write("/level", leaves.level, "", "level of each leaf; 0: the box");
  for (std::size_t k = 0; k < 3; ++k) {
    file.write(std::string("/") + "xyz"[k], leaves.at[k], "", "its number among leaves of its level");
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    file.write("/" + arrays[k].name, leaves.columns[k], arrays[k].units, arrays[k].description);
    names.push_back(arrays[k].name);
  }
  file.commit(options.overwrite);
  const std::string wrote = fmt::format("wrote {}: {}\n", options.output, fmt::join(names, ", "));
  return options.quiet ? wrote : describe(snapshot, leaves) + wrote;
}

}  // namespace thor::gridding
