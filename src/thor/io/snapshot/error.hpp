#pragma once
#include <filesystem>
#include <string>

#include "thor/core/error.hpp"

namespace thor::io {

/// Throws Error(input) for a file or directory of a snapshot that cannot be used.
[[noreturn]] inline void fail_snapshot(const std::filesystem::path& path, const std::string& why) {
  throw Error(ExitCode::input, path.string() + ": " + why);
}

}  // namespace thor::io
