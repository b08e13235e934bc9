#pragma once
#include "thor/config/config.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter.hpp"
#include "thor/parallel/cpu/engine.hpp"

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

/// Chooses dataset and precision once, and transports.
void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const cpu::Options& options,
                 cpu::Control& control, const cpu::Sink& sink);

}  // namespace thor
