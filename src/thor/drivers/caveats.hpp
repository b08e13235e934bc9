#pragma once
#include <string>
#include <vector>

#include "thor/outputs/tally.hpp"

namespace thor {

/// How a run ended, beside what it counted.
struct Ending {
  std::uint64_t requested = 0;    ///< photons that the configuration asks for
  std::string dropped_photons{};  ///< why raw photons that were asked for are not in the file; "" where they are

  bool complete(const Tally& tally) const { return tally.photons() == requested && tally[Counter::in_flight] == 0; }
};

/// Above this share of photons lost, by number or by light, a result is not to be relied on.
inline constexpr double most_lost = 0.01;
/// Less light than this share beyond a spectrum's range is not worth a word.
inline constexpr double most_beyond = 1e-3;

bool is_reliable(const Tally& tally);

/// What a reader has to know before relying on a result, a sentence or two each: a run that was cut, photons lost or
/// stopped, light that no spectrum has. This is the one place that turns counts into such words; they are stored in the
/// file, and all that show a result show them.
std::vector<std::string> caveats_of(const Tally& tally, const Ending& ending);

/// The same for a summary, in short: "escaped 90, absorbed 0, lost 10, 3 % of emergent beyond its range".
std::string ends_text(const Tally& tally);

}  // namespace thor
