#include "thor/outputs/distance.hpp"

#include <fmt/format.h>

#include "thor/config/section.hpp"

namespace thor {

namespace config {

const Section<Sky>& sky_section() {
  static const Section<Sky> section = [] {
    Section<Sky> s(
        "Redshift or distance of the object. With this section, lengths on the sky may be given as angles, and "
        "spectra, images, cubes and profiles are in observed units: fluxes, and wavelengths times (1 + z) "
        "([how](observers.md#the-sky)).");
    s.number("redshift", &Sky::redshift, {.low = 1e-6, .high = 1000},
             {.meaning = "redshift of the object, from which its distances follow", .example = "2.0"});
    s.quantity("distance", &Sky::distance, Dimension::length, {.low = 1e15, .high = 1e32},
               {.meaning = "distance of a nearby object, without expansion", .example = "10 Mpc"});
    s.exactly_one({"redshift", "distance"});
    s.number("hubble", &Sky::hubble, positive,
             {.meaning = "h = H0/(100 km/s/Mpc), from 0.3 to 1.2; by default of Planck 2015", .fallback = "0.6774"});
    s.number("omega_m", &Sky::omega_m, {.low = 0, .high = 1, .low_open = true},
             {.meaning = "density parameter of matter; the universe is flat", .fallback = "0.3089"});
    s.choice("frame", &Sky::frame,
             std::vector<Option<Frame>>{
                 {"observed", Frame::observed, "fluxes, angles, observed wavelengths and frequencies"},
                 {"rest", Frame::rest, "luminosities, kpc, and the rest frame of the object, as without `sky`"}},
             {.meaning = "frame of spectra, images, cubes, profiles and of wavelength ranges; velocities and x are the "
                         "same in both",
              .fallback = "observed"});
    s.check([](Reader& reader, const Sky& sky) {
      if (reader.clean("hubble") && !is_hubble(sky.hubble)) {
        reader.report("hubble", fmt::format("{}; got {:g}", not_hubble, sky.hubble));
      }
      const bool clean = reader.clean("redshift") && reader.clean("distance") && reader.clean("hubble") &&
                         reader.clean("omega_m") && (sky.redshift || sky.distance);
      if (clean) reader.set_angle(distances_of(sky).angular);
    });
    return s;
  }();
  return section;
}

}  // namespace config

Distances distances_of(const std::optional<config::Sky>& sky) {
  if (!sky) return {};
  if (sky->distance) return {0, *sky->distance, *sky->distance};
  const Cosmology cosmology{sky->hubble, sky->omega_m, 1 - sky->omega_m};
  return {*sky->redshift, cosmology.luminosity_distance(*sky->redshift), cosmology.angular_distance(*sky->redshift)};
}

Distances distances_of_outputs(const std::optional<config::Sky>& sky) {
  return sky && sky->frame == config::Frame::rest ? Distances{} : distances_of(sky);
}

SkyUnits units_of(const Distances& d) {
  if (!d.known()) return {"kpc", cm_per_kpc, "erg s-1", "erg s-1 kpc-2", "rest", 1};
  return {"arcsec",       rad_per_arcsec * d.angular,
          "erg s-1 cm-2", "erg s-1 cm-2 arcsec-2",
          "observed",     4 * constants::pi * d.luminosity * d.luminosity};
}

}  // namespace thor
