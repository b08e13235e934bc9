#pragma once
#include <cstddef>
#include <string>

namespace thor {

/// Memory available to the process, or to each of several on this machine [bytes]: the least of what the machine, the
/// container and `ulimit -v` allow.
double available_memory(int processes = 1);

/// Asks for large pages where so much memory lies at once, before anything is written there: what is read at random
/// waits for fewer addresses to be translated.
void prefer_large_pages(const void* memory, std::size_t bytes);

/// Text such as "1.6 GB".
std::string size_text(double bytes);

}  // namespace thor
