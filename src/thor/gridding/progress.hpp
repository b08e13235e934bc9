#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "thor/core/message.hpp"

namespace thor::gridding {

/// Progress line on stderr: rewritten on a terminal, otherwise a new line every ten seconds.
class Progress {
 public:
  Progress(bool quiet, std::uint64_t total) : quiet_(quiet), total_(total) {}
  ~Progress() {
    if (shown_) say("\r\x1b[K");
  }

  void update(std::uint64_t done) {
    const auto now = Clock::now();
    if (quiet_ || now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    message("{}{:5.1f} %  {} of {} gas elements  {:.3g}/s{}", terminal_ ? "\r" : "",
            100. * double(done) / double(total_), done, total_, double(done) / seconds, terminal_ ? "\x1b[K" : "\n");
    shown_ = terminal_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_ = isatty(STDERR_FILENO) != 0, shown_ = false;
  std::uint64_t total_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace thor::gridding
