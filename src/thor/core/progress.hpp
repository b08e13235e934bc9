#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace thor {

enum class ProgressMode { automatic, plain, never };

/// Part of a progress line. Where the line is too wide for the terminal, the part of the highest rank goes first.
struct ProgressPart {
  int rank;
  std::string text;
};

/// A line on stderr: the share done, the rate and the time left. On a terminal it is rewritten and no wider than the
/// terminal; elsewhere, and on a terminal that cannot rewrite a line (TERM=dumb), there is a new line every ten
/// seconds.
class Progress {
 public:
  /// `noun` is what is counted: "photons".
  Progress(ProgressMode mode, std::uint64_t total, std::string noun);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void expect(std::uint64_t total) { total_ = total; }
  /// Whether it is time for the next line.
  bool is_due() const;
  /// Writes a line if it is time. `more` comes between the rate and the time left.
  void update(std::uint64_t done, const std::vector<ProgressPart>& more = {});
  /// Clears the line.
  void finish();
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_, last_;
  ProgressMode mode_;
  std::uint64_t total_;
  std::string noun_;
  bool live_, shown_ = false;
};

/// The parts of a line, two blanks apart, in at most `width` columns; 0 is any number.
std::string fit(std::vector<ProgressPart> parts, std::size_t width);

/// 1:02:03 or 2:03.
std::string format_duration(double seconds);

}  // namespace thor
