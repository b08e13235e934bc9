#pragma once
#include <string>

namespace thor {

/// What the process may still take [bytes]: the least of what the machine, a container and `ulimit -v` leave.
double available_memory();

/// "1.6 GB"
std::string size_text(double bytes);

}  // namespace thor
