#pragma once
#include "thor/core/error.hpp"
#include "thor/drivers/options.hpp"
#include "thor/drivers/rays/config.hpp"

namespace thor {

/// Straight rays and their operators, from a configuration to a result file.
ExitCode run_raytrace(const config::Raytrace& config, const RunOptions& options);

/// What a run will take.
struct RaysCost {
  double rays;
  double memory;                    ///< [byte]
  std::vector<std::string> fields;  ///< that there are
};
/// Reads the fields that the operators need, and traces nothing.
RaysCost check_rays(const config::Raytrace& config, int threads);

}  // namespace thor
