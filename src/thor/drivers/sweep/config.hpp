#pragma once
#include "thor/drivers/config.hpp"
#include "thor/drivers/sweep/design.hpp"

namespace thor::sweep {

/// A file of `thor sweep`.
struct Config {
  std::string path;
  config::Document model;  ///< the configuration that all models have in common
  std::string text;        ///< all that the models depend on, but for the files that they read
  Models models;
  std::string output_path;

  /// The configuration of model i.
  config::Document document(std::uint64_t i) const;
  /// The same as `thor run` takes it: the values after --set. A model whose keys have no seed has one of its own.
  std::vector<std::string> overrides(std::uint64_t i) const;
};

/// Whether a document is of a sweep, not of a run.
bool is_sweep(const config::Document& document);

/// Throws Error(usage) that names every mistake at once.
Config check(config::Document document);

}  // namespace thor::sweep
