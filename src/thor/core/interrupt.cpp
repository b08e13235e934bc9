#include "thor/core/interrupt.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>
#include <utility>

#include "thor/core/error.hpp"

namespace thor {
namespace {

std::atomic<std::int64_t> first_time{0};  ///< of the first one [ms]; 0: there was none

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

/// Names that a signal handler can read at any time. A process rarely writes more than one file at a time.
std::array<std::atomic<const char*>, 8> unfinished{};

void handle(int number) {
  const std::int64_t now = milliseconds();
  std::int64_t first = 0;
  if (first_time.compare_exchange_strong(first, now)) return;
  // One wish, not two: timeout(1) sends its signal to the process and then to the group that it is in, and two threads
  // may handle them at once.
  if (now - first < 100) return;
  remove_unfinished();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

SignalGuard::SignalGuard() {
  first_time = 0;
  struct sigaction action {};
  action.sa_handler = handle;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &old_[i]);
    if (old_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &old_[i], nullptr);
}

void remove_unfinished() {
  for (const auto& name : unfinished) {
    if (const char* path = name.load()) unlink(path);  // does nothing to a directory
  }
}

bool is_interrupted() { return first_time != 0; }

void stop_if_interrupted() {
  static const char* const hold = std::getenv("THOR_TEST_HOLD");
  static const bool waits = hold && std::string_view(hold) == "writing";
  const auto is_writing = [] { return std::ranges::any_of(unfinished, [](const auto& name) { return name.load(); }); };
  while (waits && is_writing() && !is_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (is_interrupted()) throw Error(ExitCode::stopped, "stopped by a signal; nothing was written");
}

Unfinished::Unfinished(std::string path) : path_(std::move(path)), place_(unfinished.size()) {
  for (std::size_t i = 0; i < unfinished.size() && place_ == unfinished.size(); ++i) {
    const char* none = nullptr;
    if (unfinished[i].compare_exchange_strong(none, path_.c_str())) place_ = i;
  }
}

Unfinished::~Unfinished() {
  if (place_ < unfinished.size()) unfinished[place_] = nullptr;
}

}  // namespace thor
