#pragma once
#include <string>
#include <vector>

#include "thor/outputs/tally.hpp"

namespace thor {

/// How a run ended, in addition to its tally.
struct Ending {
  std::uint64_t requested = 0;    ///< photons of the configuration, or those that were to be there in the end
  std::string dropped_photons{};  ///< why the requested raw photons are not in the file; "" if they are
  std::string unmet{};            ///< why an error that was to be reached was not; "" if it was
  bool cut = false;               ///< whether it was stopped before it had run what it was to
  bool checkpoint = false;        ///< whether the run goes on
  bool all_light = false;         ///< whether the photons that were run share all light, in spite of a cut
  double depth_of_rays = 30;      ///< optical depth at which rays to observers end
  std::string met_in_all{};       ///< the output whose light in all has the error that was to be reached; "" if none

  bool complete(const Tally& tally) const { return tally.photons() == requested && tally.unfinished() == 0; }
};

/// A result is unreliable if more than this share of the photons, by number or by light, is lost.
inline constexpr double most_lost = 0.01;
/// Light beyond the range of a spectrum is reported from this share on.
inline constexpr double most_beyond = 1e-3;

/// Rays to observers that end at a smaller optical depth than this leave out light that counts.
inline constexpr double least_depth_of_rays = 10;

/// Errors are reported where less than this share of the light is in bins whose errors can be trusted.
inline constexpr double least_trusted = 0.5;

bool is_reliable(const Tally& tally);

/// What a reader must know before using a result, one or two sentences each: a run that was cut short, photons lost or
/// stopped, light missing from all spectra. This is the only place that turns counts into words. The caveats are stored
/// in the file, and everything that shows a result shows them.
std::vector<std::string> caveats_of(const Tally& tally, const std::vector<OutputLight>& outputs, const Ending& ending);

/// A short version for the summary: "escaped 90, absorbed 0, lost 10, beyond the range of spectrum emergent (3 %)".
std::string ends_text(const Tally& tally, const std::vector<OutputLight>& outputs);

}  // namespace thor
