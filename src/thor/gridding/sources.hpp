#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/gridding/plan/region.hpp"
#include "thor/io/array/output.hpp"

/// Point sources for the generator `sources`: stars, or star-forming gas.
namespace thor::gridding {

enum class SourceKind { none, stars, sfr };

struct Sources {
  std::vector<double> position;    ///< x, y, z of each, in coordinates of the grid [cm]
  std::vector<double> velocity;    ///< [km/s]
  std::vector<double> luminosity;  ///< [erg/s]
  std::vector<double> made_from;   ///< ionising rate [1/s] or star-formation rate [Msun/yr]
  std::uint64_t found = 0;         ///< number in the snapshot, including those without light
  std::uint64_t bad = 0;           ///< number of sources with invalid values
  double input = 0, cut = 0;       ///< luminosity of all sources, and of those outside the region [erg/s]

  std::size_t count() const { return luminosity.size(); }
};

/// The stars are valid, but the snapshot does not allow their luminosity to be computed.
struct NoLight : Error {
  using Error::Error;
};

/// Adds stars. Their luminosity follows from their ionising rate, which is in the snapshot or follows from initial
/// mass, age and metallicity.
void add_stars(const io::StarBlock& block, const GridRegion& region, Sources& sources);
/// Adds gas elements with a star-formation rate, each with a luminosity of f_eff SFR/(Msun/yr) 1e42 erg/s. `use` marks
/// the elements that are not dropped as bad.
void add_star_forming(const io::GasBlock& block, const std::vector<unsigned char>& use, const GridRegion& region,
                      double efficiency, Sources& sources);

void write_sources(io::ArrayOutput& file, const Sources& sources, SourceKind kind);

}  // namespace thor::gridding
