#pragma once
#include <span>
#include <string>

#include "thor/drivers/config.hpp"

namespace thor {

/// A configuration for `thor init`.
struct Template {
  std::string name;
  std::string title;  ///< the first line is a sentence, which `thor init` lists
  std::string yaml;   ///< the values; comments come from the declarations of the keys

  config::Driver driver() const;
  /// The commented configuration, by the keys of its driver.
  std::string text(const config::Schema& schema) const;
};

std::span<const Template> templates();

/// Error(usage) with the known names if there is none of this name.
const Template& find_template(const std::string& name);

}  // namespace thor
