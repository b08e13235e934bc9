#pragma once
#include <optional>
#include <string>

#include "thor/core/error.hpp"
#include "thor/core/progress.hpp"
#include "thor/drivers/config.hpp"
#include "thor/drivers/setup.hpp"

namespace thor {

/// How a run is done, as opposed to what it computes.
struct RunOptions {
  std::string output;  ///< the result file
  bool overwrite = false;
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;
  double max_walltime = 0;  ///< seconds; 0: none
  double drain = 5;         ///< after a signal or limit, how long photons in flight may go on [s]
  std::string device = "auto";
  device::Options device_options;
  cpu::Options cpu;
};

/// Monte Carlo radiative transfer, from what prepare() has built to a result file. A SignalGuard of the caller lets it
/// stop in good order.
ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options);

/// The one photon of this id, run again.
Photon replay(const config::Config& config, const Setup& setup, std::uint64_t id, const cpu::Options& options);

}  // namespace thor
