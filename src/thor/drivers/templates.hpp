#pragma once
#include <span>
#include <string>

namespace thor {

/// A configuration for `thor init`.
struct Template {
  std::string name;
  std::string title;  ///< the first line is a sentence, which `thor init` lists
  std::string yaml;   ///< the values; comments come from the declarations of the keys
};

std::span<const Template> templates();

/// The commented configuration; Error(usage) with the known names if there is none of this name.
std::string write_template(const std::string& name);

}  // namespace thor
