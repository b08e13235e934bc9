#include "thor/core/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace thor {
namespace {

/// The number after `key` in a file; 0 if there is none.
double number_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  double value = 0;
  if (key.empty()) return file >> value ? value : 0;
  while (file >> word) {
    if (word == key) return file >> value ? value : 0;
  }
  return 0;
}

}  // namespace

double available_memory(int processes) {
  double free = number_in("/proc/meminfo", "MemAvailable:") * 1024;
  if (free == 0) free = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (const double limit = number_in("/sys/fs/cgroup/memory.max", ""); limit > 0) {
    free = std::min(free, limit - number_in("/sys/fs/cgroup/memory.current", "") +
                              number_in("/sys/fs/cgroup/memory.stat", "inactive_file"));
  }
  free /= processes;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const double used = number_in("/proc/self/statm", "") * double(sysconf(_SC_PAGESIZE));
    free = std::min(free, double(limit.rlim_cur) - used);
  }
  return std::max(free, 0.);
}

void prefer_large_pages([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto page = std::size_t(sysconf(_SC_PAGESIZE)), large = std::size_t(1) << 21;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  if (bytes < before + large) return;
  madvise(const_cast<std::byte*>(static_cast<const std::byte*>(memory)) + before, (bytes - before) / page * page,
          MADV_HUGEPAGE);
#endif
}

std::string size_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int i = 0;
  while (bytes >= 1000 && i < 5) bytes /= 1000, ++i;
  return fmt::format("{:.3g} {}", bytes, units[i]);
}

}  // namespace thor
