#pragma once
#include <functional>
#include <optional>
#include <string>

#include "thor/core/error.hpp"
#include "thor/core/progress.hpp"
#include "thor/drivers/mcrt/batches.hpp"

namespace thor {

/// What a result takes the place of.
enum class Replaces {
  another,   ///< nothing, or the result of another run
  this_run,  ///< what the run goes on from
  spoilt     ///< that, but damaged: it goes on from the checkpoint before it
};

/// How a run is done, as opposed to what it computes.
struct RunOptions {
  std::string output;  ///< the result file
  bool overwrite = false;
  Replaces replaces = Replaces::another;
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;
  double max_walltime = 0;  ///< seconds; 0: none
  double drain = 5;         ///< see TimeLimits
  double checkpoint = 0;    ///< seconds between checkpoints, which are results so far; 0: none
  std::string device = "auto";
  device::Options device_options;
  cpu::Options cpu;
  const comm::World* world = nullptr;  ///< the ranks that share the work; null: this process alone
  DomainOptions domains;
  std::optional<Hold> hold{};             ///< in a test
  std::function<void()> before_commit{};  ///< may refuse to put the result in its place
};

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
