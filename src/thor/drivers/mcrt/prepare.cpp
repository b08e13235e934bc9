#include "thor/drivers/mcrt/prepare.hpp"

#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/core_skip.hpp"
#include "thor/drivers/mcrt/sky.hpp"
#include "thor/drivers/run.hpp"

namespace thor {
namespace {

/// What the user should know of a grid before its photons are run.
void warn_of_grid(const Setup& setup) {
  if (!setup.medium.cells) return;
  const CellStatistics& s = setup.medium.statistics;
  const std::string name = setup.medium.mesh->name();
  if (s.share_of_jumps() > 0.01) {
    warning(
        "the {} is too coarse: across {:.1f} % of the cell faces the velocity jumps by more than the thermal speed "
        "(up to {:.0f} times), so line photons pass through. Use {} (docs/gas.md).",
        name, 100 * s.share_of_jumps(), s.largest_jump,
        name == "grid" ? "a finer grid" : "smaller cells where gas is thick");
  }
  if (s.velocity_step > 0.1) {
    warning(
        "dataset.packed: velocities are rounded to {:.2g} of the smallest thermal speed, as one is very large. Remove "
        "fast cells, or set packed: false.",
        s.velocity_step);
  }
}

/// Collective. What does not fit is said here, not when a run has ended and its outputs are to be written. Each rank
/// has all bins.
void require_memory(const config::Config& config, const comm::World& world) {
  world.largest(0);  // no rank is still reading
  const int ranks = world.ranks_on_node();
  const double bytes = config::memory_of(config.outputs, config.until.has_value()), available = available_memory(ranks);
  if (bytes > available) {
    throw Error(
        ExitCode::device,
        fmt::format(
            "{}: outputs: out of memory: {:.3g} bins take {}{}, and {} are free; use fewer bins, {}or a machine with "
            "more memory",
            config.path, config::count_bins(config.outputs), size_text(bytes),
            ranks > 1 ? fmt::format(" on each of {} ranks of this machine", ranks) : "", size_text(available),
            config::count_entries(config.outputs) > 2 * config::count_bins(config.outputs) ? "errors: none, " : ""));
  }
  world.largest(0);  // all have looked
}

}  // namespace

Prepared prepare(config::Document document, const PrepareOptions& options) {
  auto [config, outline] = config::check(std::move(document));
  require_apart(options.output.empty() ? config.output_path : options.output, config, config.input_files());
  if (const std::string& note = config.acceleration.note.text; !note.empty()) message("thor: acceleration.{}\n", note);
  const comm::World& world = world_of(options.domains);
  require_memory(config, world);
  if (!options.quiet) say_reading(config);
  Setup setup = build_setup(config, std::move(outline), options.threads, options.domains);
  require_memory(config, world);  // again: cells have taken their share
  warn_of_grid(setup);
  warn_of_sky(config, setup);
  warn_of_core_skip(config, setup, world, options.threads);
  return {std::move(config), std::move(setup)};
}

}  // namespace thor
