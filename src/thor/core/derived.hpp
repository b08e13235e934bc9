#pragma once
#include <string>

namespace thor {

/// A number derived from a configuration.
struct Derived {
  std::string name;
  double value;
  std::string units;
  std::string meaning;
};

}  // namespace thor
