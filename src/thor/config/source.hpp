#pragma once
#include <string>

namespace thor::config {

/// The text of a configuration: a file, a pipe, or stdin for "-". A text of more than 16 MB, or a pipe to which nothing
/// is written for two seconds, is an Error(usage).
std::string read_source(const std::string& path);

}  // namespace thor::config
