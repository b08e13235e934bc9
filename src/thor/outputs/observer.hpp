#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thor/math/functions.hpp"
#include "thor/outputs/distance.hpp"

namespace thor {

namespace config {

template <class T>
class Section;

/// An object in the Hubble flow, in whose rest frame light is seen.
struct Rest {
  std::array<double, 3> position{};  ///< [cm]
  std::array<double, 3> velocity{};  ///< peculiar [cm/s]

  bool operator==(const Rest&) const = default;
};
const Section<Rest>& rest_section();

/// Somebody who is far away; or a set of them, which members_of() turns into single ones.
struct Observer {
  std::string name;
  std::array<double, 3> direction{};  ///< from the object to the observer; of any length
  std::array<double, 3> up{};         ///< what is upwards in images
  std::uint64_t random = 0;           ///< number of members in random directions
  std::uint64_t healpix = 0;          ///< N_side of members in the directions of HEALPix
  std::optional<Rest> rest{};

  bool is_set() const { return random > 0 || healpix > 0; }
  bool operator==(const Observer&) const = default;
};
const Section<Observer>& observer_section();

/// Limits within which successive scatterings of a photon send one ray.
struct Fuse {
  double velocity = 0;  ///< towards the observer [cm/s]
  double distance = 0;  ///< [cm]

  bool operator==(const Fuse&) const = default;
};
const Section<Fuse>& fuse_section();

/// How light is peeled off.
struct Peel {
  double cut = 0;                 ///< optical depth at which every ray ends
  double roulette = 0;            ///< optical depth from which rays end at random
  std::optional<double> depth{};  ///< path at which rays end in a periodic box, in lengths of its longest side
  std::uint64_t thin_after = 0;   ///< steps of a photon before that
  std::uint64_t thin = 1;         ///< of events in the core, one in so many sends rays
  std::optional<Fuse> fuse{};     ///< of rays that are alike, one is sent with the light of all
  double memory = 0;              ///< of a device, for events whose rays wait [byte]

  bool operator==(const Peel&) const = default;
};
const Section<Peel>& peel_section();

/// How an observer is given its light: by peel-off, or by the escaped photons that happen to leave towards it.
enum class Estimator { peel, escaped };

/// Gaussian smearing, by its full width at half maximum: on the sky [cm], along frequency [cm/s].
struct Psf {
  double fwhm = 0;
  bool operator==(const Psf&) const = default;
};
struct Lsf {
  double fwhm = 0;
  bool operator==(const Lsf&) const = default;
};
const Section<Psf>& psf_section();
const Section<Lsf>& lsf_section();

/// How an output looks at the sky of an observer.
struct Sight {
  std::string observer{};          ///< "" is none: light of all directions
  std::array<double, 3> centre{};  ///< in the middle of image, aperture or profile [cm]
  Estimator estimator = Estimator::peel;
  double within = 0;  ///< angle between an escaped photon and the direction to the observer, at most [rad]
  std::optional<Psf> psf{};
  std::optional<Lsf> lsf{};

  bool operator==(const Sight&) const = default;
};

}  // namespace config

/// The sky as one observer sees it, plain data: the plane through `centre` across the line of sight.
struct SkyFrame {
  int observer = -1;  ///< none
  double towards[3] = {}, right[3] = {}, up[3] = {};
  double size = 1;        ///< a lane's unit of length [cm]
  double centre[3] = {};  ///< [cm]
  bool escaped = false;   ///< seen by escaped photons, not by rays
  double cosine = 1;      ///< of the largest angle between these and the direction to the observer
  double blur = 0;        ///< standard deviation of the point-spread function [cm]
  double broadening = 0;  ///< that of the line-spread function, in thermal speeds
  double peak = 1;        ///< of phase functions and cones of sources, over that of light into all directions
  std::uint64_t seed = 0;
  Distances distances{};
  double box[3] = {};  ///< sides of a periodic box [cm]; 0: there is none
  bool rest = false;   ///< frequencies are those of the rest frame of an object, or of `centre` in the Hubble flow,
  double rest_position[3] = {}, rest_velocity[3] = {};  ///< which is here [cm], and moves [thermal speeds]
  double hubble = 0;                                    ///< H [thermal speeds/cm]
  double thermal_speed = 0;                             ///< [cm/s]

  bool operator==(const SkyFrame&) const = default;
};

/// The members of a set, called NAME.0, NAME.1, ...; of a single observer, itself. Random directions depend on the seed
/// and on the `place` of the set among the observers. HEALPix has 12 N_side^2 pixels of equal area, whose centres are
/// taken in the order of its rings (Gorski et al. 2005, ApJ 622, 759, equations 2 to 9).
std::vector<config::Observer> members_of(const config::Observer& set, std::uint64_t seed, std::size_t place);

/// The sky of the observer of this name; of none if there is no such observer.
SkyFrame sky_of(const std::vector<config::Observer>& observers, const std::string& name, double size);

inline namespace THOR_ISA {

/// A place on the sky, to the right of the centre and above it [cm].
struct SkyPlace {
  double right, up;
};
/// The way r [cm] along axis k; in a periodic box the one to the nearest image.
THOR_FN double nearest(const SkyFrame& sky, int k, double r) {
  return sky.box[k] > 0 ? r - sky.box[k] * round_to_integer(r / sky.box[k]) : r;
}
THOR_FN SkyPlace project(const SkyFrame& sky, const double (&position)[3]) {
  SkyPlace place{0, 0};
  for (int k = 0; k < 3; ++k) {
    double r = position[k] * sky.size - sky.centre[k];
    if (!sky.escaped) r = nearest(sky, k, r);  // of escaped photons look_at() has found it
    place.right += r * sky.right[k], place.up += r * sky.up[k];
  }
  return place;
}

/// What is to be added to the frequency of light that starts at a position into a direction, so that light of the
/// object at rest has that of the line: H (r - r_0) n - v_0 n. The Hubble flow between an event and the observer
/// shifts light by less if it starts nearer to the observer.
THOR_FN double to_rest(const SkyFrame& sky, const double (&position)[3], const double (&direction)[3]) {
  if (!sky.rest) return 0;
  double shift = 0;
  for (int k = 0; k < 3; ++k) {
    const double r = nearest(sky, k, position[k] * sky.size - sky.rest_position[k]);
    shift += (sky.hubble * r - sky.rest_velocity[k]) * direction[k];
  }
  return shift;
}

}  // namespace THOR_ISA
}  // namespace thor
