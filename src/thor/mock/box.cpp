#include "thor/mock/box.hpp"

#include <algorithm>

#include "thor/mock/box_galaxies.hpp"
#include "thor/mock/gas_state.hpp"
#include "thor/mock/linear_field.hpp"
#include "thor/mock/volumes.hpp"

namespace thor::mock {
namespace {

constexpr int intergalactic_neighbours = 16;

/// The Zel'dovich approximation fails where streams have crossed: collapsed modes are damped (Coles,
/// Melott & Shandarin 1993, MNRAS 260, 765).
constexpr double most_deviation = 1;

/// Galaxies are the peaks of a finer field, so that enough of them remain where much is damped. Smoothing length [Mpc]:
/// about the radius of a Gaussian ball of matter with the mass of a 1e11 M_sun halo.
constexpr double galaxy_smoothing = 0.5;

/// Elements outside galaxies: volume from their neighbours, temperature T = 1e4 K (1 + delta)^0.5 (Hui & Gnedin 1997)
/// up to an overdensity of 100, metallicity likewise from the overdensity.
void set_intergalactic(Snapshot& snapshot, double mean_density, int threads) {
  std::vector<Vector> positions;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < snapshot.gas.size(); ++i) {
    if (snapshot.gas[i].component != Component::igm) continue;
    positions.push_back(snapshot.gas[i].position);
    places.push_back(i);
  }
  const std::vector<double> room = volumes(positions, snapshot.box, intergalactic_neighbours, threads);
  for (std::size_t i = 0; i < places.size(); ++i) {
    GasElement& g = snapshot.gas[places[i]];
    g.density = g.mass / room[i];
    const double contrast = std::min(g.density / mean_density, 100.);
    g.temperature = 1e4 * std::sqrt(contrast);
    g.metallicity = 1e-3 * solar_metallicity * std::sqrt(contrast);
  }
}

}  // namespace

Snapshot make_box(const BoxOptions& options, int threads) {
  check(options);
  const double mpc = 1e3 * kpc, a = 1 / (1 + options.redshift);
  const std::size_t n = options.particles_per_side;
  const PowerSpectrum power(options);
  const double smoothing = smoothing_for(power, options.box_size / double(n), most_deviation);
  const LinearField field = make_field(power, options.box_size, n, options.seed, smoothing);
  const double peak_size = std::max(galaxy_smoothing, field.cell());
  const auto galaxies = find_galaxies(make_density(power, options.box_size, n, options.seed, peak_size), options);

  Snapshot snapshot;
  snapshot.cosmology = options.cosmology;
  snapshot.redshift = options.redshift;
  snapshot.box = a * options.box_size * mpc;
  snapshot.seed = options.seed;
  snapshot.kind = "box";
  snapshot.parameters = to_text(options);
  const double hubble = options.cosmology.hubble(options.redshift);
  const double speed = a * hubble * growth_rate(options.cosmology, options.redshift) * mpc;  // v = a H f psi
  add_stars(snapshot, field, galaxies, speed, options);

  const double h0 = options.cosmology.hubble(0), volume = std::pow(snapshot.box, 3);
  const double mean_density = options.omega_b * 3 * h0 * h0 / (8 * constants::pi * gravity) / (a * a * a);
  double stars = 0;
  for (const Star& s : snapshot.stars) stars += s.initial_mass * mass_left(s.age);
  const double mass = (mean_density * volume - stars) / double(n * n * n);
  snapshot.gas.resize(n * n * n);
  for (std::size_t i = 0; i < snapshot.gas.size(); ++i) {
    GasElement& g = snapshot.gas[i];
    g.id = i + 1;
    g.component = Component::igm;
    g.mass = mass;
    const std::array<std::size_t, 3> site{i / (n * n), i / n % n, i % n};
    for (int d = 0; d < 3; ++d) {
      g.position[d] = in_box(((double(site[d]) + 0.5) / double(n)) * snapshot.box + a * mpc * field.displacement[i][d],
                             snapshot.box);
      g.velocity[d] = speed * field.displacement[i][d];
    }
  }
  gather_gas(snapshot, field, galaxies, speed, options);
  set_intergalactic(snapshot, mean_density, threads);
  set_ionization(snapshot);
  return snapshot;
}

}  // namespace thor::mock
