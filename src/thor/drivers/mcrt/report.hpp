#pragma once
#include <string>

#include "thor/drivers/mcrt/mcrt.hpp"

namespace thor {

/// What a run on several ranks or domains has to say of itself, beside its tally.
struct RunFacts {
  std::string device;
  double seconds;  ///< of transport
  int ranks;
  bool in_parts;  ///< raw photons are in files of the ranks
  BorderTimes traffic;
};

/// Says what a run has done.
void report(const config::Config& config, const Setup& setup, const RunOptions& options, const Tally& total,
            const RunFacts& facts);

}  // namespace thor
