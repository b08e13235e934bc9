#include "thor/drivers/mcrt/until.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/progress.hpp"

namespace thor {

std::optional<double> Reached::times(const config::Until& until) const {
  return error ? std::optional(std::pow(*error / until.error, 2)) : std::nullopt;
}

std::uint64_t share_unit(const Emitter<double>& emitter) {
  std::uint64_t common = 0;
  for (const Light& light : emitter.light) common = std::gcd(common, light.photons);
  return emitter.count() / std::max<std::uint64_t>(common, 1);
}

std::uint64_t next_look(const config::Until& until, const Reached& reached, std::uint64_t unit) {
  constexpr double most_growth = 4, margin = 1.02;
  if (reached.is_dark()) return reached.photons;
  const double growth = std::min(margin * reached.times(until).value_or(most_growth), most_growth);
  const double wanted = std::max(double(reached.photons) * growth, double(reached.photons) + 1);
  const std::uint64_t most = until.max_photons < unit ? until.max_photons : until.max_photons / unit * unit;
  return wanted < double(most) ? std::min(std::uint64_t(std::ceil(wanted / double(unit))) * unit, most) : most;
}

namespace {

/// "0.02 s", "12 s", "1:20:05 h:m:s"
std::string duration_text(double seconds) {
  return seconds < 60 ? fmt::format("{:.2g} s", seconds)
                      : format_duration(seconds) + (seconds < 3600 ? " min:s" : " h:m:s");
}

}  // namespace

std::string describe(const config::Until& until, const Reached& reached) {
  const std::string by = reached.ended == "signal"     ? "a signal"
                         : reached.ended == "walltime" ? "--max-walltime"
                                                       : "until." + reached.ended;
  const std::string what = until.of == ErrorOf::total  ? "all light"
                           : until.of == ErrorOf::peak ? "the brightest bin"
                                                       : "the median bin";
  if (!reached.error) {
    return fmt::format(
        "until: {} has no light after {} photons{}. Check its range, its field of view and the dust; `thor continue "
        "--photons N` adds photons.",
        until.output, reached.photons, reached.ended == "dark" ? "" : fmt::format(" (ended by {})", by));
  }
  std::string text = fmt::format("until: the error of {} of {} is {:.3g} %, requested {:.3g} %", what, until.output,
                                 100 * *reached.error, 100 * until.error);
  if (reached.met(until)) return text;
  const double times = *reached.times(until);
  return text +
         fmt::format(" (ended by {} after {} photons). It takes about {:.2g} photons, {} in all: `thor continue{}`.",
                     by, reached.photons, double(reached.photons) * times, duration_text(reached.seconds * times),
                     reached.ended == "max_photons"
                         ? fmt::format(" --photons {:.2g}", double(reached.photons) * (times - 1))
                         : "");
}

void write_reached(io::ArrayOutput& file, const config::Until& until, const Reached& reached) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/summary", name, value); };
  set("until_output", until.output);
  set("until_of", config::name_of(until.of));
  set("until_error", until.error);
  set("until_met", reached.met(until));
  set("until_ended", reached.ended);
  if (!reached.error) return;
  set("until_reached", *reached.error);
  set("until_photons_needed", double(reached.photons) * *reached.times(until));
  set("until_seconds_needed", reached.seconds * *reached.times(until));
}

}  // namespace thor
