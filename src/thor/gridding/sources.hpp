#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/gridding/plan/region.hpp"
#include "thor/io/array/output.hpp"

/// Points of light for the generator `sources`: stars, or gas that forms them.
namespace thor::gridding {

enum class SourceKind { none, stars, sfr };

struct Sources {
  std::vector<double> position;    ///< x, y, z of each, in the grid [cm]
  std::vector<double> velocity;    ///< [km/s]
  std::vector<double> luminosity;  ///< [erg/s]
  std::vector<double> made_from;   ///< ionising rate [1/s] or star-formation rate [Msun/yr]
  std::uint64_t found = 0;         ///< in the snapshot, dark ones included
  std::uint64_t bad = 0;           ///< with a number that cannot be
  double input = 0, cut = 0;       ///< luminosity of all, and of those outside the region [erg/s]

  std::size_t count() const { return luminosity.size(); }
};

/// Nothing is wrong with the stars, but how bright they are cannot be known.
struct NoLight : Error {
  using Error::Error;
};

/// Stars shine by their ionising rate: that of the snapshot, or of their initial mass, age and metallicity.
void add_stars(const io::StarBlock& block, const Region& region, Sources& sources);
/// Gas elements with a star-formation rate, each f_eff SFR/(Msun/yr) 1e42 erg/s.
/// `use`: those that are not left out as bad.
void add_star_forming(const io::GasBlock& block, const std::vector<unsigned char>& use, const Region& region,
                      double efficiency, Sources& sources);

void write_sources(io::ArrayOutput& file, const Sources& sources, SourceKind kind);

}  // namespace thor::gridding
