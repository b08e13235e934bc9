#pragma once
#include <string>

namespace thor {

/// Memory available to the process, or to each of several on this machine [bytes]: the least of what the machine, the
/// container and `ulimit -v` allow.
double available_memory(int processes = 1);

/// Text such as "1.6 GB".
std::string size_text(double bytes);

}  // namespace thor
