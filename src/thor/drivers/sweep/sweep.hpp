#pragma once
#include "thor/core/error.hpp"
#include "thor/drivers/options.hpp"
#include "thor/drivers/sweep/config.hpp"

namespace thor::sweep {

/// Runs the models of a sweep that are not done yet, and writes the result of all. A SignalGuard of the caller lets it
/// stop in good order.
ExitCode run(const Config& sweep, const RunOptions& options);

/// What a sweep takes.
struct Cost {
  std::uint64_t models;
  std::uint64_t tried = 0, impossible = 0;  ///< models of a trial, and those of them that cannot be built
  double seconds = 0;                       ///< on these threads; 0: there was no trial
  double file_bytes;                        ///< of the result, at most
};
/// With a trial of some seconds, of models that are spread over the sweep.
Cost estimate(const Config& sweep, const cpu::Options& options, bool trial);

}  // namespace thor::sweep
