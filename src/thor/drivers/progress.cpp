#include "thor/drivers/progress.hpp"

#include <unistd.h>

#include <algorithm>

#include "thor/core/message.hpp"

namespace thor {

using Clock = std::chrono::steady_clock;

Progress::Progress(ProgressMode mode, std::uint64_t photons)
    : start_(Clock::now()), last_(start_), mode_(mode), photons_(photons), terminal_(isatty(STDERR_FILENO) != 0) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void Progress::update(std::uint64_t finished, std::uint64_t scatterings, std::uint64_t longest, double error) {
  if (mode_ == ProgressMode::never) return;
  const bool live = terminal_ && mode_ == ProgressMode::automatic;
  const double since = std::chrono::duration<double>(Clock::now() - last_).count();
  if (since < (live ? 0.2 : 10.)) return;
  last_ = Clock::now();
  const double rate = double(finished) / seconds();
  const std::string left = finished ? format_duration(double(photons_ - finished) / rate) + " left" : "";
  const std::string accuracy = error > 0 ? fmt::format("  error {:.2g} %", 100 * error) : "";
  const std::string line =
      fmt::format("{:5.1f} %  {} of {} photons  {:.3g}/s  {:.3g} scatterings each, at most {:.3g}{}  {}",
                  100. * double(finished) / double(photons_), finished, photons_, rate,
                  double(scatterings) / double(std::max<std::uint64_t>(finished, 1)), double(longest), accuracy, left);
  message("{}{}{}", live ? "\r" : "", line, live ? "\x1b[K" : "\n");
  shown_ = live;
}

void Progress::finish() {
  if (shown_) message("\r\x1b[K");
  shown_ = false;
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace thor
