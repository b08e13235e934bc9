#pragma once
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/gridding/grid_snapshot.hpp"

namespace thor::gridding {

/// One run of `thor grid`, as all of its steps see it.
struct Job {
  const GridOptions& options;
  const io::Snapshot& snapshot;
  const GridRegion& region;
  const GasOptions& gas;
  std::vector<std::string>& warnings;  ///< printed, and stored in the file

  void warn(const std::string& text) const {
    say_warning(text);
    warnings.push_back(text);
  }
};

[[noreturn]] inline void refuse(const Job& job, const std::string& why) {
  throw Error(ExitCode::input, job.options.snapshot + ": " + why);
}

/// Stars or star-forming gas, as the options ask; those of gas are added with it (add_star_forming).
void find_sources(const Job& job, Sources& sources);
/// Error(input) for bad ones, where they are an error.
void refuse_bad_sources(const Job& job, const Sources& sources);
std::string describe_sources(const GridOptions& options, const Sources& sources);

}  // namespace thor::gridding
