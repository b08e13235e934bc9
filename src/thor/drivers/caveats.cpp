#include "thor/drivers/caveats.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  list.push_back(fmt::format(
      "{} of {} rays towards observers did not end: the run was cut, or they cross more than 4e6 segments (a slab seen "
      "edge-on). Their light is missing from images, cubes and spectra of observers.",
      t[Counter::rays_lost], t[Counter::rays]));
}

void add_stopped(const Tally& t, const std::vector<OutputLight>& outputs, std::vector<std::string>& list) {
  const bool seen = std::ranges::any_of(outputs, [](const OutputLight& s) {  // observers have that light
    return s.of == config::Fate::stopped || (s.observed && s.of == config::Fate::escaped);
  });
  if (t[Counter::stopped] == 0 || seen) return;
  list.push_back(fmt::format(
      "{} photons with {:.3g} erg/s ({:.3g} % of the light) were stopped by dataset.stop_shift; no output is `of: "
      "stopped`, so none has that light.",
      t[Counter::stopped], t.light(Counter::light_stopped), percent(t.light(Counter::light_stopped), light_sent(t))));
}

/// One for all outputs: those of a set of observers may be many.
void add_untrusted(const std::vector<OutputLight>& outputs, std::vector<std::string>& list) {
  constexpr int most_named = 4;
  std::string names;
  int count = 0;
  for (const OutputLight& s : outputs) {
    if (!s.knows_vov || s.trusted >= least_trusted || !(s.within > 0)) continue;
    if (++count > most_named) continue;
    names += fmt::format("{}{} {} ({:.3g} %)", count > 1 ? ", " : "", s.type, s.name, 100 * s.trusted);
  }
  if (count == 0) return;
  if (count > most_named) names += fmt::format(" and {} more", count - most_named);
  list.push_back(fmt::format(
      "less than half of the light of {} is in bins whose errors can be trusted (at most {:.0f} % of the light, with a "
      "VOV of at most {}): few photons make the others. More photons or larger bins help.",
      names, 100 * most_relative_error, most_vov));
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
  add_untrusted(outputs, list);
  for (const OutputLight& s : outputs) {
    const double all = s.within + s.beyond;
    if (s.observed && !(all > 0) && t.light(Counter::light_escaped) > 0) {
      list.push_back(
          fmt::format("{} {}: not a photon is in it, though {:.3g} erg/s escaped: its aperture misses the "
                      "object, or the cone of its `within` is too narrow for so few photons.",
                      s.type, s.name, t.light(Counter::light_escaped)));
    }
    if (s.beyond <= most_beyond * all) continue;
    list.push_back(fmt::format("{} {}: {:.3g} of its {:.3g} erg/s ({:.3g} %) lie beyond its range. {}", s.type, s.name,
                               s.beyond, all, percent(s.beyond, all),
                               s.observed && s.beyond >= all
                                   ? "It misses the object: check its centre, width and range."
                                   : "A wider range has them."));
  }
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
  for (const OutputLight& s : outputs) {
    const double all = s.within + s.beyond;
    if (s.beyond > most_beyond * all) {
      out += fmt::format(", {:.3g} % of {} beyond its range", percent(s.beyond, all), s.name);
    }
  }
  return out;
}

}  // namespace thor
