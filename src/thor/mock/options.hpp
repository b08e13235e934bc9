#pragma once
#include <cstdint>
#include <string>

#include "thor/core/cosmology.hpp"

/// Parameters of a mock: the options of `thor mock`. check() throws thor::Error(ExitCode::usage) with the option's
/// name; to_text() is the command line that reproduces the mock.
namespace thor::mock {

struct GalaxyOptions {
  std::uint64_t seed = 1, gas_particles = 100000, stars = 20000;
  double redshift = 2;
  double halo_mass = 1e11;     ///< M_200, at 200 times the critical density [M_sun]
  double gas_mass = 3e9;       ///< gas of the disc [M_sun]
  double cgm_mass = 3e9;       ///< all gas of the halo and its clouds in the box [M_sun]
  double stellar_mass = 2e9;   ///< at birth [M_sun]
  double disc_scale = 2;       ///< exponential scale length [kpc]
  double outflow_speed = 300;  ///< [km/s]
  Cosmology cosmology;
};

struct BoxOptions {
  std::uint64_t seed = 1, particles_per_side = 64;
  double redshift = 3;
  double box_size = 25;  ///< comoving [Mpc]
  Cosmology cosmology;
  // Planck Collaboration (2016, A&A 594, A13), like Cosmology
  double omega_b = 0.0486, sigma8 = 0.8159, spectral_index = 0.9667;
};

void check(const GalaxyOptions& options);
void check(const BoxOptions& options);

double virial_radius(const GalaxyOptions& options);  ///< R_200 [kpc]

std::string to_text(const GalaxyOptions& options);
std::string to_text(const BoxOptions& options);

}  // namespace thor::mock
