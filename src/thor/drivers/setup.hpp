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
};

Setup build_setup(const config::Config& config);

/// The kernel's view of the problem for a dataset of this precision.
template <class D>
Problem<D> build_problem(const config::Config& config, const Setup& setup, const D& dataset);

/// Where a run computes.
struct Compute {
  device::Device* device = nullptr;  ///< none: the processor
  device::Options options;           ///< of the device
  cpu::Options cpu;
};

/// An empty tally for the outputs of a run.
Tally build_tally(const config::Config& config, const Setup& setup);

/// Chooses dataset, precision and backend once, and transports.
void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink);

}  // namespace thor
