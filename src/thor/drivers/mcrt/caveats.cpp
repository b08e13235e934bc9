#include "thor/drivers/mcrt/caveats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace thor {
namespace {

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// The light that photons carry: the emitted light times the escape fractions of the generators.
double light_sent(const Tally& t) { return t.light(Counter::light_emitted) - t.light(Counter::light_unresolved); }

using Lines = std::vector<std::string>;

void add_cut(const Tally& t, const Ending& ending, Lines& list) {
  if (ending.complete(t)) return;
  if (t[Counter::rays_in_flight] > 0) {
    list.push_back(
        fmt::format("the run was cut: {} of {} rays towards observers had not ended, so their images, cubes and "
                    "spectra lack light. "
                    "Run it again with a longer --drain.",
                    t[Counter::rays_in_flight], t[Counter::rays]));
    if (t[Counter::in_flight] == 0) return;
  }
  const std::string start =
      fmt::format("the run was cut: {} of {} photons were started, ", t.photons(), ending.requested);
  if (t[Counter::in_flight] > 0) {
    list.push_back(
        fmt::format("{}{} were still in flight ({:.3g} % of the light), so the result is biased. Run it again with a "
                    "longer --drain "
                    "or --max-walltime.",
                    start, t[Counter::in_flight], percent(t.light(Counter::light_in_flight), light_sent(t))));
  } else {
    list.push_back(fmt::format(
        "{}and all of these ended: the sample is smaller, not biased, with the luminosity of {}. Complete it with "
        "`thor continue`.",
        start, ending.all_light ? "all sources" : "the photons that were started"));
  }
}

void add_lost(const Tally& t, const Ending& ending, Lines& list) {
  if (t[Counter::lost] == 0) return;
  const char* remedy = ending.jumps == JumpsUse::off ? "Raise these limits, or set acceleration.jumps: true."
                       : ending.jumps == JumpsUse::off_by_limit
                           ? "Raise max_steps and remove max_scatterings, which turns acceleration.jumps off."
                           : "Raise these limits.";
  list.push_back(
      fmt::format("{} photons lost at limits.max_scatterings or max_steps ({:.3g} % of all, {:.3g} % of the light): "
                  "the result is {}. "
                  "{}",
                  t[Counter::lost], percent(double(t[Counter::lost]), double(t.photons())),
                  percent(t.light(Counter::light_lost), light_sent(t)),
                  is_reliable(t) ? "slightly biased" : "biased and unreliable", remedy));
}

void add_lost_rays(const Tally& t, Lines& list) {
  if (t[Counter::rays_lost] == 0) return;
  list.push_back(
      fmt::format("{} of {} rays towards observers were dropped after 4e6 segments, so images, cubes and spectra of "
                  "observers lack light. Tilt observers who see a slab edge-on.",
                  t[Counter::rays_lost], t[Counter::rays]));
}

void add_stopped(const Tally& t, const std::vector<OutputLight>& outputs, Lines& list) {
  const double left = t.light(Counter::light_escaped) + t.light(Counter::light_stopped);
  const bool seen = std::ranges::any_of(outputs, [&](const OutputLight& s) {  // observers see stopped photons too
    const bool all = s.leaves >= (1 - 1e-9) * left;                           // of all generators
    return all && (s.of == config::Fate::stopped || (s.observed && s.of == config::Fate::escaped));
  });
  if (t[Counter::stopped] == 0 || seen) return;
  list.push_back(
      fmt::format("{} photons ({:.3g} % of the light) were stopped by dataset.stop_shift and are in no output. Add an "
                  "output with `of: stopped`.",
                  t[Counter::stopped], percent(t.light(Counter::light_stopped), light_sent(t))));
}

/// Outputs with the same defect. The file has a line for each, the terminal one line for all.
class Defect {
 public:
  /// `about`: the share in per cent, or "". `line` follows "TYPE NAME: " in the file.
  void add(const OutputLight& output, const std::string& about, const std::string& line) {
    const std::string name = output.type + " " + output.name;
    if (++count_ <= most_stored) lines_.push_back(name + ": " + line);
    if (count_ > 1 && names_.size() + name.size() > most_letters) return;
    ++named_;
    names_ += (count_ > 1 ? ", " : "") + name + (about.empty() ? "" : " (" + about + ")");
  }
  /// `head` is printed before the names of several outputs, `tail` after them.
  void report(const std::string& head, const std::string& tail, Caveats& caveats) const {
    if (count_ == 0) return;
    for (const std::string& line : lines_) caveats.stored.push_back(line);
    const std::string names = names_ + (count_ > named_ ? fmt::format(" and {} more", count_ - named_) : "");
    if (count_ > most_stored) caveats.stored.push_back(head + names + tail);
    caveats.printed.push_back(count_ == 1 ? lines_.front() : head + names + tail);
  }

 private:
  static constexpr int most_stored =
      100;  // an attribute of HDF5 has up to 64 kB; a set may have thousands of observers
  static constexpr std::size_t most_letters = 80;
  int count_ = 0, named_ = 0;
  std::string names_;
  Lines lines_;
};

const char* bins_of(const OutputLight& output) { return output.type == "image" ? "pixels" : "bins"; }

void add_untrusted(const std::vector<OutputLight>& outputs, const Ending& ending, Caveats& caveats) {
  Defect noisy;
  const std::string untrusted = fmt::format("above {:.0f} % or VOV above {}", 100 * most_relative_error, most_vov);
  const char* const more = ending.continues ? "Use more photons (`thor continue`)" : "Use more photons";
  for (const OutputLight& s : outputs) {
    if (!(s.trusted < least_trusted && s.within > 0)) continue;
    const double share = 100 * (1 - s.trusted);
    if (s.name == ending.met_in_all) {
      const std::string text = fmt::format(
          "{} {}: until.error is met in total, but {:.3g} % of the light is in {} with errors {}. Use `of: bin-median` "
          "or larger {}.",
          s.type, s.name, share, bins_of(s), untrusted, bins_of(s));
      caveats.stored.push_back(text), caveats.printed.push_back(text);
    } else {
      noisy.add(s, fmt::format("{:.3g} %", share),
                fmt::format("noisy ({:.3g} % of its light is in {} with errors {}). {} or larger {}.", share,
                            bins_of(s), untrusted, more, bins_of(s)));
    }
  }
  noisy.report("noisy: ", fmt::format(" of the light in bins with errors {}. {} or larger bins.", untrusted, more),
               caveats);
}

/// Outputs without any light although some leaves the gas, and outputs with light beyond their range.
void add_empty_and_beyond(const Tally& t, const std::vector<OutputLight>& outputs, Caveats& caveats) {
  const double left = t.light(Counter::light_escaped) + t.light(Counter::light_stopped);
  Defect empty, missed, narrow;
  const std::string none = fmt::format("no light, though {:.3g} erg/s leave the gas", left);
  for (const OutputLight& s : outputs) {
    const double all = s.within + s.beyond;
    if (s.observed && !(all > 0) && s.leaves > 0) {
      empty.add(s, "", none + ". Check the direction of the observer, the aperture and `within`.");
    }
    if (s.beyond <= most_beyond * all) continue;
    if (s.observed && s.beyond >= all) {
      missed.add(s, "", "all of its light is beyond its range. Check its centre, width and range.");
    } else {
      const std::string share = fmt::format("{:.3g} %", percent(s.beyond, all));
      const char* const what = s.type == "image" ? "width" : "range";
      narrow.add(s, share, fmt::format("{} of its light is beyond its {}. Use a larger one.", share, what));
    }
  }
  empty.report("", ": " + none + ". Check the directions of observers, apertures and `within`.", caveats);
  missed.report("", ": all of their light is beyond their ranges. Check centre, width and range.", caveats);
  narrow.report("light beyond the range or width of ", ". Use larger ones.", caveats);
}

/// Rays that end where much of their light may be left.
void add_low_cut(const Tally& t, const Ending& ending, Lines& list) {
  if (t[Counter::rays_cut] == 0 || ending.depth_of_rays >= least_depth_of_rays) return;
  list.push_back(fmt::format(
      "peel.cut: {}: rays towards observers end with up to {:.2g} % of their light left, so images, cubes and "
      "spectra are too dark. Use peel.cut: 30.",
      ending.depth_of_rays, 100 * std::exp(-ending.depth_of_rays)));
}

}  // namespace

bool is_reliable(const Tally& t) {
  const double lost = std::max(percent(double(t[Counter::lost]), double(t.photons())),
                               percent(t.light(Counter::light_lost), light_sent(t)));
  return lost <= 100 * most_lost * (1 + 1e-9);  // rounding
}

Caveats caveats_of(const Tally& t, const std::vector<OutputLight>& outputs, const Ending& ending) {
  Caveats caveats;
  Lines run;
  const auto flush = [&] {
    for (std::string& line : run) caveats.stored.push_back(line), caveats.printed.push_back(std::move(line));
    run.clear();
  };
  add_cut(t, ending, run);
  if (!ending.unmet.empty()) run.push_back(ending.unmet);
  add_stopped(t, outputs, run);
  add_lost_rays(t, run);
  add_low_cut(t, ending, run);
  flush();
  add_untrusted(outputs, ending, caveats);
  add_empty_and_beyond(t, outputs, caveats);
  if (!ending.dropped_photons.empty()) {
    run.push_back("raw photons are not in the file (" + ending.dropped_photons + "); everything else is complete.");
  }
  add_lost(t, ending, run);
  flush();
  return caveats;
}

std::string ends_text(const Tally& t) {
  std::string out;
  for (int i = 0; i < fate_count; ++i) {
    const auto counter = Counter(i);
    const bool always = counter == Counter::escaped || counter == Counter::absorbed;
    if (always || t[counter] > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", fates[i].name, t[counter]);
  }
  return out;
}

}  // namespace thor
