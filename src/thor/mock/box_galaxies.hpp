#pragma once
#include <vector>

#include "thor/mock/linear_field.hpp"
#include "thor/mock/snapshot.hpp"

/// Galaxies of a box: where they are, what they have, and what they are made of.
namespace thor::mock {

struct PeakGalaxy {
  std::size_t site = 0;  ///< point of the field
  double sfr = 0;        ///< [M_sun/yr]
  double mass = 0;       ///< of stars at birth, and of gas [g]
};

/// The highest peaks of a density on n^3 points, 0.02 a Mpc^3 (or as many as there are), with star formation rates in
/// the order of their heights from a Schechter function of slope -1.5 above a twentieth of its characteristic rate, so
/// that they add up to sfr_density().
std::vector<PeakGalaxy> find_galaxies(const std::vector<double>& density, const BoxOptions& options);

/// A few star particles a galaxy, one for each interval of ages: young ones are resolved, and the masses are those of a
/// constant rate. `speed` is that of gas that has been displaced by 1 Mpc.
void add_stars(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
               const BoxOptions& options);

/// Turns the elements that started nearest to a peak into the disc of its galaxy.
void gather_gas(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
                const BoxOptions& options);

/// A coordinate, brought back into the periodic box.
double in_box(double x, double box);

}  // namespace thor::mock
