#pragma once
#include "thor/datasets/medium.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/options.hpp"
#include "thor/generators/emitter.hpp"
#include "thor/interactors/jump_tables.hpp"

namespace thor {

/// All that is built from a configuration: once, and then only read.
struct Setup {
  Line line;
  Medium medium;
  Emitter<double> emitter;
  config::Numerics numerics;
  std::shared_ptr<const JumpTables> jumps;  ///< none: every scattering is followed
};

/// The part of a Setup that is built to check a configuration: without the cells of a grid and the light of its
/// sources.
struct Outline {
  Line line;
  MediumOutline medium;
  config::Numerics numerics{};
};

struct config::Checked {
  Config config;
  Outline outline;
};

/// The line of a configuration, from the list that it names.
Line choose_line(const config::Config& config, const Refuse& refuse = refuse_at_once);

/// The schemes of a run; cells that a model is sampled on have none but the default.
config::Numerics choose_numerics(const config::Config& config, const Line& line, const MediumOutline& medium,
                                 const Refuse& refuse = refuse_at_once);

/// Completes the outline of a configuration with cells and sources, read by this many threads.
Setup build_setup(const config::Config& config, Outline outline, int threads, const DomainOptions& domains = {});
/// Builds the outline too.
Setup build_setup(const config::Config& config);

/// Collective: Error(input) unless this number, of what a rank has read, is the same on all of them.
void require_same_files(const comm::World& world, std::uint64_t read);

/// Largest x_crit with dust: absorption on the hidden path is added only on average (hidden_path in
/// interactors/core_skip.hpp), which is accurate up to this value.
double largest_x_crit(const Medium& medium);

/// x_crit of core skipping for a transition with this a tau0; for the local scheme that at the centre, where it is
/// largest. 0 if nothing is skipped.
double largest_critical_frequency(const config::CoreSkip& skip, double a_tau0, const Medium& medium);

/// Frequency axis relative to a transition of the line; "" is the first one.
FrequencyAxis frequency_axis(const Setup& setup, const std::string& reference = "");

/// What the outputs of a run depend on; for as long as the set-up lives.
OutputContext output_context(const config::Config& config, const Setup& setup);

/// An empty tally for the outputs of a run: with quanta for the photons of the set-up, or for others whose weights sum
/// up to a luminosity and their squares to another number.
Tally build_tally(const config::Config& config, const Setup& setup);
Tally build_tally(const config::Config& config, const Setup& setup, double luminosity, double luminosity_squared);

}  // namespace thor
