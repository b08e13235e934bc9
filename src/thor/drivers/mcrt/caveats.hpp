#pragma once
#include <string>
#include <vector>

#include "thor/outputs/tally.hpp"

namespace thor {

/// Whether sphere jumps were used.
enum class JumpsUse {
  on,            ///< or not possible
  off,           ///< acceleration.jumps: false
  off_by_limit,  ///< limits.max_scatterings is set
};

/// How a run ended, in addition to its tally.
struct Ending {
  std::uint64_t requested = 0;    ///< photons of the configuration, or those that were to be there in the end
  std::string dropped_photons{};  ///< why the requested raw photons are not in the file; "" if they are
  std::string unmet{};            ///< why an error that was to be reached was not; "" if it was
  bool cut = false;               ///< whether it was stopped before it had run what it was to
  bool checkpoint = false;        ///< whether the run goes on
  bool all_light = false;         ///< whether the photons that were run share all light, in spite of a cut
  double depth_of_rays = 30;      ///< optical depth at which rays to observers end
  std::string met_in_all{};       ///< the output whose total has the error that was to be reached; "" if none
  JumpsUse jumps = JumpsUse::on;
  bool continues = true;  ///< whether `thor continue` can add photons to the result

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

/// Reasons not to rely on a result as it is, each at most two lines of a terminal, with a remedy. This is the only
/// place that turns counts into words.
struct Caveats {
  std::vector<std::string> stored;   ///< in the file; a line about an output begins with "TYPE NAME: "
  std::vector<std::string> printed;  ///< as stored, but with one line for all outputs that have the same defect
};
Caveats caveats_of(const Tally& tally, const std::vector<OutputLight>& outputs, const Ending& ending);

/// Fates of photons for the summary: "escaped 90, absorbed 0, lost 10".
std::string ends_text(const Tally& tally);

}  // namespace thor
