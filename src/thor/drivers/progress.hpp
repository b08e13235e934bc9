#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace thor {

enum class ProgressMode { automatic, plain, never };

/// One line on stderr: rewritten on a terminal and no wider than it, a new one now and then elsewhere, and on a
/// terminal that cannot go back in a line (TERM=dumb).
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

/// The parts of a line, two blanks apart, in at most `width` columns (0: any number): of those that do not fit, the
/// ones of the highest number are left out first.
struct Part {
  int rank;
  std::string text;
};
std::string fit(std::vector<Part> parts, std::size_t width);

/// 1:02:03 or 2:03.
std::string format_duration(double seconds);

}  // namespace thor
