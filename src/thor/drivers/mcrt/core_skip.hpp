#pragma once
#include <vector>

#include "thor/drivers/mcrt/setup.hpp"

namespace thor {

/// How much of a uniform x_crit the gas supports. Where the local criterion, x = 0.2 (a tau_loc)^{1/3}, is smaller,
/// skipping scatters photons into the wing that in real gas would have escaped from the core, or shifts them further
/// than the gas would have done.
struct SupportedCoreSkip {
  double largest = 0;    ///< largest x of the local criterion; 0 if nothing can be skipped
  double median = 0;     ///< grid: half of the absorbers are in cells with at most this x
  double cells = 0;      ///< grid: share of the cells with gas (tau > 1e-3) in which x is below x_crit
  double absorbers = 0;  ///< grid: share of the absorbers in those cells
};

/// For a grid it computes the lengths that `local` uses (neighbourhood.hpp), which takes 4 bytes and 0.4 microseconds
/// of one core per cell: 0.8 s for 128^3 cells, the same as the start of `local`.
/// Collective where ranks hold parts of it.
SupportedCoreSkip supported_core_skip(const comm::World& world, const Medium& medium, double x_crit, int threads);

/// Warns, with numbers, of an x_crit (`fixed`, `global`) that is too large for the gas or its dust.
void warn_of_core_skip(const config::Config& config, const Setup& setup, const comm::World& world, int threads);

}  // namespace thor
