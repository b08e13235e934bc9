#pragma once
#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/batches.hpp"

namespace thor {

/// What a run is to reach.
struct Goal {
  std::uint64_t photons = 0;  ///< number in all, or the first at which to look at the error
  bool until = false;         ///< whether it goes on until the error of the configuration is reached
};

/// Monte Carlo radiative transfer, from what prepare() has built to a result file. A SignalGuard of the caller lets it
/// stop in good order.
ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options);
/// The same from a sample of photons that exists already.
ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options, Sample sample,
                  const Goal& goal);

/// The one photon of this id, run again.
Photon replay(const config::Config& config, const Setup& setup, std::uint64_t id, const cpu::Options& options);

}  // namespace thor
