#pragma once
#include <string>

namespace thor {

/// Memory that the process may still allocate [bytes]: the smallest of what the machine, a container and `ulimit -v`
/// allow.
double available_memory();

/// Text such as "1.6 GB".
std::string size_text(double bytes);

}  // namespace thor
