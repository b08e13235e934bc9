#include "thor/core/parallel_for.hpp"

#include <sched.h>

namespace thor {

int available_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace thor
