#pragma once
#include <string>
#include <vector>

#include "thor/config/schema.hpp"

/// The manual entry of a configuration key, from its declaration.
namespace thor::config {

/// The keys of one driver.
struct DriverKeys {
  std::string driver;
  const Schema* root;
};

struct KeyHelp {
  std::string text;                  ///< entries, or a list of paths if many keys match; empty if none does
  std::vector<std::string> nearest;  ///< paths of similar keys if none matches
};

/// Help for a path ("generators.photons" or "generators.0.photons") or for the end of one ("photons", "dust.tau").
KeyHelp key_help(const std::vector<DriverKeys>& drivers, const std::string& key);

}  // namespace thor::config
