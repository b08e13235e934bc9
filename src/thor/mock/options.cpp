#include "thor/mock/options.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "thor/core/error.hpp"
#include "thor/mock/snapshot.hpp"

namespace thor::mock {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw Error(ExitCode::usage, option + ": " + why);
}

/// Written so that NaN fails. A value converted from another unit may miss its limit by a rounding error.
void within(const char* option, double value, double low, double high, const char* unit) {
  if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) return;
  refuse(option, fmt::format("expected {1:g} to {2:g}{3}{4}, got {0:g}", value, low, high, *unit ? " " : "", unit));
}

void within(const char* option, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value >= low && value <= high) return;
  refuse(option, fmt::format("expected {1} to {2}, got {0}", value, low, high));
}

void check_seed(std::uint64_t seed) { within("--seed", seed, 0, std::uint64_t(1) << 53); }

}  // namespace

double virial_radius(const GalaxyOptions& options) {
  const double hubble = options.cosmology.hubble(options.redshift);
  return std::cbrt(gravity * options.halo_mass * solar_mass / (100 * hubble * hubble)) / kpc;
}

void check(const GalaxyOptions& o) {
  check_seed(o.seed);
  within("--gas-particles", o.gas_particles, 100, 50'000'000);
  within("--stars", o.stars, 1, 50'000'000);
  within("--redshift", o.redshift, 0, 15, "");
  within("--halo-mass", o.halo_mass, 1e8, 1e15, "M_sun");
  for (const auto& [name, mass] :
       {std::pair{"--gas-mass", o.gas_mass}, {"--cgm-mass", o.cgm_mass}, {"--stellar-mass", o.stellar_mass}}) {
    within(name, mass, 1e3, 1e15, "M_sun");
    if (mass > o.halo_mass) {
      refuse(name, fmt::format("{:g} M_sun is more than the mass of the halo (--halo-mass {:g})", mass, o.halo_mass));
    }
  }
  within("--disc-scale", o.disc_scale, 1e-3, 1e3, "kpc");
  const double radius = virial_radius(o);
  if (o.disc_scale > 0.1 * radius) {
    refuse("--disc-scale",
           fmt::format("{:g} kpc is more than a tenth of the halo's radius of {:.3g} kpc; such a large disc "
                       "needs a larger --halo-mass or a lower --redshift",
                       o.disc_scale, radius));
  }
  within("--outflow-speed", o.outflow_speed, 1, 3e4, "km/s");
}

void check(const BoxOptions& o) {
  check_seed(o.seed);
  within("--particles-per-side", o.particles_per_side, 8, 256);
  if (!std::has_single_bit(o.particles_per_side)) {
    refuse("--particles-per-side", fmt::format("{} is not a power of two", o.particles_per_side));
  }
  within("--redshift", o.redshift, 0, 15, "");
  within("--box-size", o.box_size, 1, 1000, "Mpc");
}

std::string to_text(const GalaxyOptions& o) {
  return fmt::format(
      "thor mock galaxy --seed {} --gas-particles {} --stars {} --redshift {} --halo-mass {} --gas-mass {} "
      "--cgm-mass {} --stellar-mass {} --disc-scale {} --outflow-speed {}",
      o.seed, o.gas_particles, o.stars, o.redshift, o.halo_mass, o.gas_mass, o.cgm_mass, o.stellar_mass, o.disc_scale,
      o.outflow_speed);
}

std::string to_text(const BoxOptions& o) {
  return fmt::format("thor mock box --seed {} --particles-per-side {} --redshift {} --box-size {}", o.seed,
                     o.particles_per_side, o.redshift, o.box_size);
}

}  // namespace thor::mock
