#pragma once
#include "thor/datasets/medium.hpp"
#include "thor/drivers/config.hpp"
#include "thor/generators/emitter.hpp"
#include "thor/interactors/jump_tables.hpp"
#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

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
};

struct config::Checked {
  Config config;
  Outline outline;
};

/// The line of a configuration, from the list that it names.
Line choose_line(const config::Config& config, const Refuse& refuse = refuse_at_once);

/// How a grid is cut, for ranks that hold parts of it.
struct DomainOptions {
  int count = 1;            ///< 1: each rank holds all
  bool by_light = false;    ///< cut such that as many photons begin in each as in the others, rather than cells
  std::int64_t margin = 4;  ///< cells
  BorderOptions border;
  const comm::World* world = nullptr;  ///< null: this process alone
};

const comm::World& world_of(const DomainOptions& domains);

/// Completes the outline of a configuration with cells and sources, read by this many threads.
Setup build_setup(const config::Config& config, Outline outline, int threads, const DomainOptions& domains = {});
/// Builds the outline too.
Setup build_setup(const config::Config& config);

/// x_crit of core skipping for a transition with this a tau0; for the local scheme that at the centre, where it is
/// largest. 0 if nothing is skipped.
double largest_critical_frequency(const config::CoreSkip& skip, double a_tau0, const Medium& medium);

/// Frequency axis relative to a transition of the line; "" is the first one.
FrequencyAxis frequency_axis(const Setup& setup, const std::string& reference = "");

/// The hardware of a run.
struct Compute {
  device::Device* device = nullptr;  ///< null: the processor
  device::Options options;           ///< for the device
  cpu::Options cpu;
};

/// The observers of a run that rays go to.
Observers build_observers(const config::Config& config, const MediumOutline& medium);

/// What the outputs of a run depend on; for as long as the set-up lives.
OutputContext output_context(const config::Config& config, const Setup& setup);

/// An empty tally for the outputs of a run: with quanta for the photons of the set-up, or for others whose weights sum
/// up to a luminosity and their squares to another number.
Tally build_tally(const config::Config& config, const Setup& setup);
Tally build_tally(const config::Config& config, const Setup& setup, double luminosity, double luminosity_squared);

/// The problem of a run in one precision, for the kernel that does no more than it needs.
template <class Real>
AnyProblem<Real> choose_problem(const config::Config& config, const Setup& setup);

/// The same where ranks hold parts of a grid, with the ids of a dealer.
BorderTimes run_on_domains(const config::Config& config, const Setup& setup, comm::Dealer& dealer,
                           const DomainOptions& domains, Pool& pool, const Compute& compute, Control& control,
                           Tally& tally, const Sink& sink);

/// Chooses the kernel for dataset, line, precision and backend, and runs it.
void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink);

}  // namespace thor
