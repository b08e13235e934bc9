#pragma once
#include <string>
#include <vector>

#include "thor/drivers/mcrt/setup.hpp"

namespace thor {

/// A configuration and all that is built from it.
struct Prepared {
  config::Config config;
  Setup setup;
};

struct PrepareOptions {
  std::vector<std::string> overrides;  ///< "a.b=value", see config::parse()
  std::string output;                  ///< result file; "" is that of the configuration
  int threads = 1;                     ///< to read a grid with
  bool quiet = false;                  ///< warnings only
  std::string text{};                  ///< the configuration itself, if it is not to be read from the path
  DomainOptions domains{};
};

/// The files that a run reads beside its configuration, each once.
std::vector<std::string> input_paths(const config::Config& config);

/// Reads a configuration (stdin for "-"), checks it, builds it and says what the user should know before photons are
/// run. `thor run`, `thor run --replay` and `thor check` all begin with this, so they accept the same configurations
/// and refuse the others in the same words.
Prepared prepare(const std::string& path, const PrepareOptions& options);

}  // namespace thor
