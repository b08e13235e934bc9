#include "thor/core/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "thor/core/message.hpp"

namespace thor {

using Clock = std::chrono::steady_clock;

namespace {

bool can_rewrite() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term && std::string_view(term) != "dumb";
}

/// Width of the terminal at this moment; 0 if it is not known.
std::size_t columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* given = std::getenv("COLUMNS");
  return given ? std::size_t(std::clamp(std::atoi(given), 0, 10000)) : 0;
}

}  // namespace

Progress::Progress(ProgressMode mode, std::uint64_t total, std::string noun)
    : start_(Clock::now()),
      last_(start_),
      mode_(mode),
      total_(total),
      noun_(std::move(noun)),
      live_(mode == ProgressMode::automatic && can_rewrite()) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

bool Progress::is_due() const {
  const std::chrono::duration<double> since = Clock::now() - last_;
  return mode_ != ProgressMode::never && since.count() >= (live_ ? 0.2 : 10.);
}

void Progress::update(std::uint64_t done, const std::vector<ProgressPart>& more) {
  if (!is_due()) return;
  last_ = Clock::now();
  const double rate = double(done) / seconds();
  std::vector<ProgressPart> parts{{0, fmt::format("{:5.1f} %", 100. * double(done) / double(total_))},
                                  {2, fmt::format("{} of {} {}", done, total_, noun_)},
                                  {4, fmt::format("{:.3g}/s", rate)}};
  parts.insert(parts.end(), more.begin(), more.end());
  if (done) parts.push_back({1, format_duration(double(total_ - done) / rate) + " left"});
  // The last column stays free: some terminals go on to the next line when it is filled.
  const std::size_t width = live_ ? columns() : 0;
  const std::string line = fit(std::move(parts), width > 1 ? width - 1 : width);
  say(fmt::format("{}{}{}", live_ ? "\r" : "", line, live_ ? "\x1b[K" : "\n"));
  shown_ = live_;
}

void Progress::finish() {
  if (shown_) say("\r\x1b[K");
  shown_ = false;
}

std::string fit(std::vector<ProgressPart> parts, std::size_t width) {
  for (;;) {
    std::string line;
    for (const ProgressPart& part : parts) line += (line.empty() ? "" : "  ") + part.text;
    if (width == 0 || line.size() <= width) return line;
    if (parts.size() < 2) return line.substr(0, width);
    parts.erase(std::ranges::max_element(parts, {}, &ProgressPart::rank));
  }
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace thor
