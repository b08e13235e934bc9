#pragma once
#include <string>

namespace thor::config {

/// The text of a configuration: a file, a pipe, or stdin for "-". What is too long to be one (16 MB) is refused while
/// it is read, and a pipe that nobody writes to after two seconds; both are Error(usage).
std::string read_source(const std::string& path);

}  // namespace thor::config
