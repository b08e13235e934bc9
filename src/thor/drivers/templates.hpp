#pragma once
#include <span>
#include <string>

namespace thor {

/// A configuration to begin with.
struct Template {
  std::string name;
  std::string title;
  std::string yaml;  ///< its values; the comments come from the declarations of the keys
};

std::span<const Template> templates();

/// The commented configuration; throws Error(usage) with the known names.
std::string write_template(const std::string& name);

}  // namespace thor
