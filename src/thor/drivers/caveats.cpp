#include "thor/drivers/caveats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace thor {
namespace {

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// The light that photons carry: the emitted light times the escape fractions of the generators.
double light_sent(const Tally& t) { return t.light(Counter::light_emitted) - t.light(Counter::light_unresolved); }

void add_cut(const Tally& t, const Ending& ending, std::vector<std::string>& list) {
  if (ending.complete(t)) return;
  const std::string start =
      fmt::format("the run was cut: {} of {} photons were started, ", t.photons(), ending.requested);
  if (t[Counter::rays_in_flight] > 0) {
    list.push_back(fmt::format(
        "the run was cut: {} of {} rays towards observers were still on their way, and their light is missing from "
        "images, cubes and spectra of observers; it is marked complete = false.",
        t[Counter::rays_in_flight], t[Counter::rays]));
    if (t[Counter::in_flight] == 0) return;
  }
  list.push_back(start +
                 (t[Counter::in_flight] > 0
                      ? fmt::format("{} were still in flight ({:.3g} % of the light). Those are the long "
                                    "histories, so the result is biased; it is marked complete = false.",
                                    t[Counter::in_flight], percent(t.light(Counter::light_in_flight), light_sent(t)))
                      : fmt::format("and all of these have ended. It is marked complete = false; it is a smaller "
                                    "sample, not a biased one, and its luminosities are those of {}.",
                                    ending.all_light ? "all sources" : "the photons that were started")));
}

void add_lost(const Tally& t, std::vector<std::string>& list) {
  if (t[Counter::lost] == 0) return;
  list.push_back(fmt::format(
      "{} photons hit the cap on scatterings or steps and are lost, {:.3g} % of all with {:.3g} % of the light: {}. "
      "Raise limits.max_scatterings and limits.max_steps, or accelerate the run (acceleration.jumps).",
      t[Counter::lost], percent(double(t[Counter::lost]), double(t.photons())),
      percent(t.light(Counter::light_lost), light_sent(t)),
      is_reliable(t) ? "the result is slightly biased" : "the result is biased and not to be relied on"));
}

void add_lost_rays(const Tally& t, std::vector<std::string>& list) {
  if (t[Counter::rays_lost] == 0) return;
  list.push_back(
      fmt::format("{} of {} rays towards observers did not end: they cross more than 4e6 segments (a slab seen "
                  "edge-on). Their light is missing from images, cubes and spectra of observers.",
                  t[Counter::rays_lost], t[Counter::rays]));
}

void add_stopped(const Tally& t, const std::vector<OutputLight>& outputs, std::vector<std::string>& list) {
  const double left = t.light(Counter::light_escaped) + t.light(Counter::light_stopped);
  const bool seen = std::ranges::any_of(outputs, [&](const OutputLight& s) {  // observers have that light
    const bool all = s.leaves >= (1 - 1e-9) * left;                           // of all generators
    return all && (s.of == config::Fate::stopped || (s.observed && s.of == config::Fate::escaped));
  });
  if (t[Counter::stopped] == 0 || seen) return;
  list.push_back(fmt::format(
      "{} photons with {:.3g} erg/s ({:.3g} % of the light) were stopped by dataset.stop_shift; no output is `of: "
      "stopped`, so none has that light.",
      t[Counter::stopped], t.light(Counter::light_stopped), percent(t.light(Counter::light_stopped), light_sent(t))));
}

/// Names of outputs, the first few of many: a set of observers may have thousands.
class Named {
 public:
  void add(const OutputLight& output, const std::string& about) {
    if (++count_ > most) return;
    names_ += fmt::format("{}{} {} ({})", count_ > 1 ? ", " : "", output.type, output.name, about);
  }
  bool empty() const { return count_ == 0; }
  std::string text() const { return names_ + (count_ > most ? fmt::format(" and {} more", count_ - most) : ""); }

 private:
  static constexpr int most = 4;
  int count_ = 0;
  std::string names_;
};

void add_untrusted(const std::vector<OutputLight>& outputs, const Ending& ending, std::vector<std::string>& list) {
  Named few;
  for (const OutputLight& s : outputs) {
    if (!(s.trusted < least_trusted && s.within > 0)) continue;
    if (s.name == ending.met_in_all) {
      list.push_back(fmt::format(
          "until: the error of all light of {0} {1} is reached, but {2:.3g} % of that light is in bins whose own "
          "errors "
          "cannot be trusted (more than {3:.0f} %). `of: bin-median` asks for the error of a typical bin; larger bins "
          "need fewer photons.",
          s.type, s.name, 100 * (1 - s.trusted), 100 * most_relative_error));
    } else if (s.knows_vov) {
      few.add(s, fmt::format("{:.3g} %", 100 * s.trusted));
    }
  }
  if (few.empty()) return;
  list.push_back(fmt::format(
      "less than half of the light of {} is in bins whose errors can be trusted (at most {:.0f} %). Add photons (thor "
      "continue), or use larger bins.",
      few.text(), 100 * most_relative_error));
}

/// Outputs that have none of the light that leaves the gas, and those that have only part of it in their range.
void add_empty_and_beyond(const Tally& t, const std::vector<OutputLight>& outputs, std::vector<std::string>& list) {
  const double left = t.light(Counter::light_escaped) + t.light(Counter::light_stopped);
  Named empty, missed, narrow;
  for (const OutputLight& s : outputs) {
    const double all = s.within + s.beyond;
    if (s.observed && !(all > 0) && s.leaves > 0) empty.add(s, "empty");
    if (s.beyond <= most_beyond * all) continue;
    const bool misses = s.observed && s.beyond >= all;
    (misses ? missed : narrow)
        .add(s, fmt::format("{:.3g} of {:.3g} erg/s, {:.3g} %", s.beyond, all, percent(s.beyond, all)));
  }
  if (!empty.empty()) {
    list.push_back(fmt::format(
        "no light is in {}, though {:.3g} erg/s leave the gas: none is sent towards the observer (a slab seen edge-on, "
        "a parallel beam, a cone that points elsewhere), the aperture misses the object, or the cone of `within` is "
        "too narrow for so few photons.",
        empty.text(), left));
  }
  if (!missed.empty()) {
    list.push_back(fmt::format(
        "all light lies beyond the range of {}: it misses the object; check centre, width and range.", missed.text()));
  }
  if (!narrow.empty()) {
    list.push_back(fmt::format("light lies beyond the range of {}. A wider range has it.", narrow.text()));
  }
}

/// Rays that end where much of their light may be left.
void add_low_cut(const Tally& t, const Ending& ending, std::vector<std::string>& list) {
  if (t[Counter::rays_cut] == 0 || ending.depth_of_rays >= least_depth_of_rays) return;
  list.push_back(fmt::format(
      "rays towards observers ended at an optical depth of {} (peel.cut), where each may have up to {:.2g} % of its "
      "light "
      "left: images, cubes and spectra of observers are too dark. Leave peel.cut at 30; peel.roulette saves the time.",
      ending.depth_of_rays, 100 * std::exp(-ending.depth_of_rays)));
}

}  // namespace

bool is_reliable(const Tally& t) {
  const double lost = std::max(percent(double(t[Counter::lost]), double(t.photons())),
                               percent(t.light(Counter::light_lost), light_sent(t)));
  return lost <= 100 * most_lost * (1 + 1e-9);  // rounding
}

std::vector<std::string> caveats_of(const Tally& t, const std::vector<OutputLight>& outputs, const Ending& ending) {
  std::vector<std::string> list;
  add_cut(t, ending, list);
  if (!ending.unmet.empty()) list.push_back(ending.unmet);
  add_stopped(t, outputs, list);
  add_lost_rays(t, list);
  add_low_cut(t, ending, list);
  add_untrusted(outputs, ending, list);
  add_empty_and_beyond(t, outputs, list);
  if (!ending.dropped_photons.empty()) {
    list.push_back("the raw photons are not in the file, since the disk did not take them (" + ending.dropped_photons +
                   "). All else is whole.");
  }
  add_lost(t, list);
  return list;
}

std::string ends_text(const Tally& t, const std::vector<OutputLight>& outputs) {
  std::string out;
  for (int i = 0; i < fate_count; ++i) {
    const auto counter = Counter(i);
    const bool always = counter == Counter::escaped || counter == Counter::absorbed;
    if (always || t[counter] > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", fates[i].name, t[counter]);
  }
  Named beyond;
  for (const OutputLight& s : outputs) {
    const double all = s.within + s.beyond;
    if (s.beyond > most_beyond * all) beyond.add(s, fmt::format("{:.3g} %", percent(s.beyond, all)));
  }
  if (!beyond.empty()) out += ", beyond the range of " + beyond.text();
  return out;
}

}  // namespace thor
