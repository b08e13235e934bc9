#pragma once
#include <vector>

#include "thor/mock/linear_field.hpp"
#include "thor/mock/snapshot.hpp"

/// Galaxies of a box: their positions, star formation rates and particles.
namespace thor::mock {

struct PeakGalaxy {
  std::size_t site = 0;  ///< index of a point of the field
  double sfr = 0;        ///< [M_sun/yr]
  double mass = 0;       ///< mass of stars at birth, and of gas [g]
};

/// The highest peaks of a density field on n^3 points, 0.02 per Mpc^3 (or as many as exist). In order of height they
/// get star formation rates from a Schechter function of slope -1.5 above a twentieth of its characteristic rate, which
/// add up to sfr_density().
std::vector<PeakGalaxy> find_galaxies(const std::vector<double>& density, const BoxOptions& options);

/// A few star particles per galaxy, one for each age interval: young ages are resolved, and the masses correspond to a
/// constant rate. `speed` is that of gas displaced by 1 Mpc.
void add_stars(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
               const BoxOptions& options);

/// Turns the elements that started nearest to a peak into the disc of its galaxy.
void gather_gas(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
                const BoxOptions& options);

/// Coordinate wrapped into the periodic box.
double in_box(double x, double box);

}  // namespace thor::mock
