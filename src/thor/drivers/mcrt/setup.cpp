#include "thor/drivers/mcrt/setup.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/mcrt/jumps.hpp"
#include "thor/generators/light_map.hpp"
#include "thor/interactors/build.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// The sides of a periodic box [cm]; 0 for other gas.
std::array<double, 3> periodic_sides(const MediumOutline& m) {
  if (!m.mesh || !m.mesh->periodic()) return {};
  auto sides = m.mesh->sides();
  for (double& side : sides) side *= m.size;
  return sides;
}

/// Refuses what domains cannot do.
void require_parts(const config::Config& config, const char* option) {
  if (!dataset_type(config.dataset.type).divide) {
    throw Error(ExitCode::usage,
                fmt::format("{}: gas of type {} cannot be divided, as grids and meshes can; leave the option out",
                            option, config.dataset.type));
  }
}

/// Ranks whose gas differs would not do the same from here on, and wait for each other for ever.
void require_same(const comm::World& world, std::span<const double> numbers) {
  std::uint64_t read = 0;
  for (const double number : numbers) read = mix64(read ^ std::bit_cast<std::uint64_t>(number));
  require_same_files(world, read);
}
void require_same_mesh(const comm::World& world, const MediumOutline& m) {
  if (!m.mesh) return;
  const auto low = m.mesh->low(), sides = m.mesh->sides();
  require_same(world,
               std::array{double(m.mesh->cells()), low[0], low[1], low[2], sides[0], sides[1], sides[2], m.size});
}
void require_same_gas(const comm::World& world, const CellStatistics& s) {
  require_same(world, std::array{s.mean_density(), s.largest_opacity, s.largest_a, s.faces, s.jumps, s.largest_jump,
                                 s.largest_x_crit, s.fastest});
}

}  // namespace

void require_same_files(const comm::World& world, std::uint64_t read) {
  if (world.largest(read) != ~world.largest(~read)) {
    throw Error(
        ExitCode::input,
        "ranks read different configurations or input files of the same name: copy the same files to all machines");
  }
}

double largest_x_crit(const Medium& m) { return m.dust.tau > 0 ? 2 : 1e10; }

double largest_critical_frequency(const config::CoreSkip& skip, double a_tau, const Medium& m) {
  switch (skip.mode) {
    case config::CoreSkipMode::none:
      return 0;
    case config::CoreSkipMode::fixed:
      return skip.x_crit;
    case config::CoreSkipMode::local:
    case config::CoreSkipMode::global:
      return a_tau >= 1 ? std::min(0.2 * std::cbrt(a_tau), largest_x_crit(m)) : 0;
  }
  return 0;
}

config::Numerics choose_numerics(const config::Config& config, const Line& line, const MediumOutline& medium,
                                 const Refuse& refuse) {
  const config::Numerics chosen = build_numerics(config.numerics, line, medium, refuse);
  return config.dataset.cells > 0 ? config::Numerics{} : chosen;
}

Setup build_setup(const config::Config& config) {
  const Line line = choose_line(config);
  const MediumOutline medium = outline_medium(config.dataset, line);
  return build_setup(config, {line, medium, choose_numerics(config, line, medium)}, available_threads());
}

Setup build_setup(const config::Config& config, Outline outline, int threads, const DomainOptions& domains) {
  Line& line = outline.line;
  const bool core_skip = config.acceleration.core_skip.mode == config::CoreSkipMode::local;
  CellOptions cells{core_skip, threads, &world_of(domains)};
  cells.join = config.acceleration.jumps;
  cells.dust_depth = config.peel.depth.value_or(1);
  const Refuse refuse = [&](const std::string& key, const std::string& why) {
    throw Error(ExitCode::usage, config.path + ": " + key + ": " + why);
  };
  const auto build_light = [&](const Medium& gas, const EmitterOptions& shares) {
    return build_emitter(config.generators, config.seed, gas, line, refuse, shares);
  };
  require_same_mesh(*cells.world, outline.medium);
  Emitter<double> emitter{};
  if (domains.by_light) require_parts(config, "--by-light");
  if (domains.count > 1) {
    require_parts(config, "--domains");
    Medium gas{outline.medium, nullptr, {}, nullptr};
    gas.dropped = find_dropped(gas, config.dataset, line, *cells.world, threads);
    // Lengths of core skipping and jumps compare cells with their neighbours.
    const bool compares = config.acceleration.core_skip.mode != config::CoreSkipMode::none || cells.join;
    Cut cut{domains.count, std::max<std::int64_t>(domains.margin, compares ? 1 : 0)};
    const auto divide = [&](bool silent) {
      EmitterOptions shares{cells.world, dataset_type(config.dataset.type).divide(outline.medium, cut), silent};
      emitter = {};  // the light of another cut
      emitter = build_light(gas, shares);
      return shares;
    };
    EmitterOptions shares = divide(domains.by_light);
    if (domains.by_light) {  // which is known from domains of as many cells
      cut.light = LightMap(emitter, *gas.mesh, shares);
      shares = divide(false);
    }
    cells.partition = shares.partition;
  }
  Medium medium = build_medium(outline.medium, config.dataset, line, cells);
  if (medium.cells) require_same_gas(*cells.world, medium.statistics);
  if (domains.count == 1) emitter = build_light(medium, {});
  double farthest = 0;  // offset of a transition from the first, in thermal widths
  for (const AtomicTransition& t : line.transitions) {
    farthest = std::max(farthest, std::abs(frequency_offset(t, line, medium)));
  }
  if (config.precision == config::Precision::single_ && farthest > 1e5) {
    warning(
        "line {}: its transitions are up to {:.1g} thermal widths apart, where single precision resolves {:.1g} of a "
        "width. Set precision: double.",
        line.name, farthest, farthest * 0x1p-24);
  }
  warn_of_cold_cells(line, medium);
  if (medium.stamp) medium.stamp->require_same();  // also after the light of the cells
  auto jumps = build_jump_tables(config, line, medium, *cells.world, threads);
  return {std::move(line), std::move(medium), std::move(emitter), outline.numerics, std::move(jumps)};
}

FrequencyAxis frequency_axis(const Setup& setup, const std::string& reference) {
  const AtomicTransition* found = setup.line.find(reference);
  const AtomicTransition& t = found ? *found : setup.line.first();
  return {setup.medium.thermal_speed, t.wavelength, frequency_offset(t, setup.line, setup.medium)};
}

Tally build_tally(const config::Config& config, const Setup& setup) {
  return build_tally(config, setup, setup.emitter.luminosity(), setup.emitter.luminosity_squared());
}

OutputContext output_context(const config::Config& config, const Setup& setup) {
  std::vector<std::string> names;
  for (const config::Generator& generator : config.generators) names.push_back(generator.name);
  const double g = std::abs(setup.medium.dust.g);
  double peak = (1 + g) / ((1 - g) * (1 - g));  // Henyey and Greenstein's function for mu = 1; atoms have at most 3/2
  for (const Source<double>& s : setup.emitter.sources) {
    if (s.cone > 0) peak = std::max(peak, 1 / s.cone);
  }
  return {[&](const std::string& reference) { return frequency_axis(setup, reference); },
          setup.medium.size,
          config.observers,
          config.seed,
          distances_of_outputs(config.sky),
          setup.medium.hubble,
          periodic_sides(setup.medium),
          peak,
          std::move(names)};
}

Tally build_tally(const config::Config& config, const Setup& setup, double luminosity, double luminosity_squared) {
  return {config.outputs, output_context(config, setup), luminosity, luminosity_squared,
          int(setup.emitter.sources.size())};
}

}  // namespace thor
