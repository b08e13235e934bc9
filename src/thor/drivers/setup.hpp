#pragma once
#include "thor/datasets/medium.hpp"
#include "thor/drivers/config.hpp"
#include "thor/generators/emitter.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor {

/// What a configuration becomes: built once, then only read.
struct Setup {
  Line line;
  Medium medium;
  Emitter<double> emitter;
  config::Numerics numerics;
};

/// The line of a configuration, from the list that it names.
Line choose_line(const config::Config& config, const Refuse& refuse = refuse_at_once);

Setup build_setup(const config::Config& config);

/// x_crit of core skipping for a transition with this a tau0; the local one at the centre, where it is largest. 0 is
/// none.
double largest_critical_frequency(const config::CoreSkip& skip, double a_tau0, const Medium& medium);

/// Frequencies about a transition of the line, "" for the first.
FrequencyAxis frequency_axis(const Setup& setup, const std::string& reference = "");

/// Where a run computes.
struct Compute {
  device::Device* device = nullptr;  ///< none: the processor
  device::Options options;           ///< of the device
  cpu::Options cpu;
};

/// An empty tally for the outputs of a run.
Tally build_tally(const config::Config& config, const Setup& setup);

/// The problem of a run in one precision: that of the kernel which does no more than it needs.
template <class Real>
AnyProblem<Real> choose_problem(const config::Config& config, const Setup& setup);

/// Chooses precision and backend once, and transports.
void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink);

}  // namespace thor
