#pragma once
#include <optional>

#include "thor/core/constants.hpp"
#include "thor/core/cosmology.hpp"

namespace thor {

namespace config {

template <class T>
class Section;

/// What outputs are: what an observer measures, or what an object at rest sends out.
enum class Frame { observed, rest };

/// Where the object is, for those who look at it: at a redshift or at a distance.
struct Sky {
  std::optional<double> redshift{}, distance{};                  ///< distance [cm]
  double hubble = Cosmology{}.h, omega_m = Cosmology{}.omega_m;  ///< of a flat universe
  Frame frame = Frame::observed;

  bool operator==(const Sky&) const = default;
};
const Section<Sky>& sky_section();

}  // namespace config

inline constexpr double cm_per_kpc = 1e3 * constants::pc, rad_per_arcsec = constants::pi / 648000;

/// Distances of the object, plain data; 0 if nobody knows them.
struct Distances {
  double redshift = 0, luminosity = 0, angular = 0;  ///< the latter two in [cm]

  bool known() const { return luminosity > 0; }
  double stretch() const { return 1 + redshift; }  ///< of wavelengths on their way
  bool operator==(const Distances&) const = default;
};
Distances distances_of(const std::optional<config::Sky>& sky);
/// The same for outputs: unknown where these are in the rest frame of the object.
Distances distances_of_outputs(const std::optional<config::Sky>& sky);

/// Units of what is seen on a sky: arcsec and flux where the distances are known, else kpc and luminosity.
struct SkyUnits {
  const char* length;
  double in_cm;        ///< the unit of length at the object [cm]
  const char* energy;  ///< of a flux or luminosity
  const char* brightness;
  const char* frame;  ///< "observed" or "rest"
  double light;       ///< luminosity that a flux of 1 is [erg/s]: 4 pi d_L^2, which includes the dimming by (1+z)^4
};
SkyUnits units_of(const Distances& distances);

}  // namespace thor
