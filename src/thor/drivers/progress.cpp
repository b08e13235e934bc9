#include "thor/drivers/progress.hpp"

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

/// Columns of the terminal, now; 0 where it does not say.
std::size_t columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* given = std::getenv("COLUMNS");
  return given ? std::size_t(std::clamp(std::atoi(given), 0, 10000)) : 0;
}

}  // namespace

Progress::Progress(ProgressMode mode, std::uint64_t photons)
    : start_(Clock::now()), last_(start_), mode_(mode), photons_(photons), terminal_(can_rewrite()) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void Progress::update(std::uint64_t finished, std::uint64_t scatterings, std::uint64_t longest, double error) {
  if (mode_ == ProgressMode::never) return;
  const bool live = terminal_ && mode_ == ProgressMode::automatic;
  const double since = std::chrono::duration<double>(Clock::now() - last_).count();
  if (since < (live ? 0.2 : 10.)) return;
  last_ = Clock::now();
  const double rate = double(finished) / seconds();
  const double each = double(scatterings) / double(std::max<std::uint64_t>(finished, 1));
  std::vector<Part> parts{{0, fmt::format("{:5.1f} %", 100. * double(finished) / double(photons_))},
                          {2, fmt::format("{} of {} photons", finished, photons_)},
                          {4, fmt::format("{:.3g}/s", rate)},
                          {5, fmt::format("{:.3g} scatterings each, at most {:.3g}", each, double(longest))}};
  if (error > 0) parts.push_back({3, fmt::format("error {:.2g} %", 100 * error)});
  if (finished) parts.push_back({1, format_duration(double(photons_ - finished) / rate) + " left"});
  // The last column stays free: some terminals go on to the next line when it is filled.
  const std::size_t width = live ? columns() : 0;
  const std::string line = fit(std::move(parts), width > 1 ? width - 1 : width);
  message("{}{}{}", live ? "\r" : "", line, live ? "\x1b[K" : "\n");
  shown_ = live;
}

void Progress::finish() {
  if (shown_) message("\r\x1b[K");
  shown_ = false;
}

std::string fit(std::vector<Part> parts, std::size_t width) {
  for (;;) {
    std::string line;
    for (const Part& part : parts) line += (line.empty() ? "" : "  ") + part.text;
    if (width == 0 || line.size() <= width) return line;
    if (parts.size() < 2) return line.substr(0, width);
    parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
  }
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace thor
