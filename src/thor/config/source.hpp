#pragma once
#include <string>

namespace thor::config {

/// Text of a configuration from a file, a pipe, or stdin for "-". Input of more than 16 MB is refused while it is read,
/// and a pipe without a writer after two seconds; both are Error(usage).
std::string read_source(const std::string& path);

}  // namespace thor::config
