#pragma once
#include <vector>

#include "thor/drivers/setup.hpp"

namespace thor {

/// What the gas of a medium supports of an x_crit that is the same everywhere: where the local criterion,
/// x = 0.2 (a tau_loc)^{1/3}, is smaller, skipping throws photons out of the core that real gas would have let go, or
/// shifts that the gas would not have made.
struct SupportedCoreSkip {
  double largest = 0;    ///< x of the local criterion where it is largest; 0: none anywhere
  double median = 0;     ///< of a grid: half of the absorbers are where x is at most this
  double cells = 0;      ///< of a grid: share of the cells with gas (tau > 1e-3) where x is below x_crit
  double absorbers = 0;  ///< of a grid: share of the absorbers in them
};

/// Of a grid it takes the lengths that `local` works out (neighbourhood.hpp) and 4 bytes of memory for each cell while
/// it lasts: 0.4 microseconds a cell on one core, 0.8 s for 128^3 of them, as long as `local` takes to begin.
SupportedCoreSkip supported_core_skip(const Medium& medium, double x_crit, int threads);

/// Warns, with numbers, of an x_crit (`fixed`, `global`) that the gas does not support, or that dust does not allow.
void warn_of_core_skip(const config::Config& config, const Setup& setup);

}  // namespace thor
