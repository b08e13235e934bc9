#pragma once
#include "thor/drivers/mcrt/parameters.hpp"
#include "thor/generators/emitter.hpp"

namespace thor {

/// Where a run stands that is to reach an error.
struct Reached {
  std::uint64_t photons = 0;
  double seconds = 0;             ///< of transport
  std::optional<double> error{};  ///< none where the output has no light yet
  std::string ended{};  ///< met, dark, max_photons, max_time, walltime, signal, or photons (all that were asked for)

  /// So many photons without any light will not be followed by many with some.
  bool is_dark() const { return !error && photons >= 10'000'000; }
  bool met(const config::Until& until) const { return error && *error <= until.error; }
  /// How many times as many photons it takes, since the error goes as N^-1/2; none where it is not known.
  std::optional<double> times(const config::Until& until) const;
};

/// The smallest number of photons of which each generator has its exact share: N/gcd(n_1, n_2, ...).
std::uint64_t share_unit(const Emitter<double>& emitter);

/// The number of photons after which to look again: as many as the error so far says, and 2 % more so that the next
/// look is mostly the last one; but at most four times as many as now, since an error is itself uncertain. A multiple
/// of `unit` unless max_photons is less than that; `reached.photons` or fewer if it is not to go on.
std::uint64_t next_look(const config::Until& until, const Reached& reached, std::uint64_t unit);

/// What was reached, and what it would take: a sentence.
std::string describe(const config::Until& until, const Reached& reached);

/// To /summary.
void write_reached(io::ArrayOutput& file, const config::Until& until, const Reached& reached);

}  // namespace thor
