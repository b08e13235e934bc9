#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace thor {

enum class ProgressMode { automatic, plain, never };

/// One line on stderr: rewritten on a terminal, a new one now and then elsewhere.
class Progress {
 public:
  Progress(ProgressMode mode, std::uint64_t photons);

  /// `error` is relative; 0: not known.
  void update(std::uint64_t finished, std::uint64_t scatterings, std::uint64_t longest, double error);
  void finish();
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_, last_;
  ProgressMode mode_;
  std::uint64_t photons_;
  bool terminal_, shown_ = false;
};

/// 1:02:03 or 2:03.
std::string format_duration(double seconds);

}  // namespace thor
