#pragma once
#include <functional>
#include <optional>
#include <string>

#include "thor/core/progress.hpp"
#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor {

/// The state that a run reaches before it looks at signals and limits, so that tests of them do not depend on its
/// speed.
struct Hold {
  std::uint64_t ended = 0;  ///< photons that have ended; 0: some are in flight
  bool waits = false;       ///< no further photon is started until the run is stopped

  /// From the environment: THOR_TEST_HOLD=after:N, or at:N, which waits.
  static std::optional<Hold> wanted();
};

/// How a grid is cut, for ranks that hold parts of it.
struct DomainOptions {
  int count = 1;            ///< 1: each rank holds all
  bool by_light = false;    ///< cut such that as many photons begin in each as in the others, rather than cells
  std::int64_t margin = 4;  ///< cells
  BorderOptions border;
  const comm::World* world = nullptr;  ///< the ranks that share the work; null: this process alone
};
const comm::World& world_of(const DomainOptions& domains);

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
  double drain = 5;         ///< after a signal or that limit, how long photons in flight may go on [s]
  double checkpoint = 0;    ///< seconds between checkpoints, which are results so far; 0: none
  std::string device = "auto";
  device::Options device_options;
  cpu::Options cpu;
  DomainOptions domains;
  std::optional<Hold> hold{};             ///< in a test
  std::function<void()> before_commit{};  ///< may refuse to put the result in its place

  const comm::World& world() const { return world_of(domains); }
  ProgressMode shown() const { return quiet ? ProgressMode::never : progress; }
};

/// "auto" is the first device there is, the next one for the next rank on this machine, or the processor (null).
std::unique_ptr<device::Device> choose_device(const RunOptions& options, bool writes_peeled_light = false);
/// "BACKEND: NVIDIA H200 (sm_90)", "cpu: ...".
std::string describe(const device::Device* device, const cpu::Options& options);

}  // namespace thor
