#pragma once
#include "thor/drivers/mcrt/setup.hpp"

namespace thor {

/// A configuration and all that is built from it.
struct Prepared {
  config::Config config;
  Setup setup;
};

struct PrepareOptions {
  std::string output;  ///< result file; "" is that of the configuration
  int threads = 1;     ///< to read a grid with
  bool quiet = false;  ///< warnings only
  DomainOptions domains{};
};

/// Checks a configuration, builds it and says what the user should know before photons are
/// run. `thor run`, `thor run --replay` and `thor check` all begin with this, so they accept the same configurations
/// and refuse the others in the same words.
Prepared prepare(config::Document document, const PrepareOptions& options);

}  // namespace thor
