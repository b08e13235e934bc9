#pragma once
#include "thor/generators/emitter.hpp"

namespace thor {

/// How the photons of a generator are shared among its sources.
struct SourceShares {
  const config::Generator& generator;
  double sum;  ///< luminosity of all that are not left out [erg/s]

  bool leaves_out(double luminosity) const { return luminosity < generator.minimum_luminosity; }
  bool shines(double luminosity) const { return luminosity > 0 && !leaves_out(luminosity); }
  /// A source that is dark or left out has none.
  std::uint64_t slots(double luminosity) const;
  /// Whether photons have the weight that their source says.
  bool by_source() const { return generator.photons == 0; }
};

/// The order in which photons take `count` slots, in a table without sources.
SourceTable order_of_slots(const config::Generator& generator, std::uint64_t seed, std::uint64_t count);

/// Luminosities below the least one of a generator.
struct LeftOut {
  std::uint64_t sources = 0;
  double luminosity = 0;  ///< [erg/s]
};
/// Says what was left out, unless it is to be `silent`, and refuses a generator of which nothing shines.
void check_sources(const SourceShares& shares, const char* what, const LeftOut& cut, std::uint64_t slots,
                   bool silent = false);

}  // namespace thor
