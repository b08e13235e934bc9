#pragma once
#include <string>

#include "thor/core/error.hpp"

namespace thor::emission {

/// Throws Error(input) for a table that cannot be used; `where` is a file, or a line of it.
[[noreturn]] inline void refuse(const std::string& where, const std::string& why) {
  throw Error(ExitCode::input, where + ": " + why);
}

}  // namespace thor::emission
