#pragma once
#include <vector>

#include "thor/mock/power_spectrum.hpp"
#include "thor/mock/snapshot.hpp"

namespace thor::mock {

/// A Gaussian random field on n^3 points of a periodic cube (index (i n + j) n + k), and the displacement that in the
/// first order makes it: delta = -div psi. Lengths in Mpc, comoving.
struct LinearField {
  std::size_t n = 0;
  double box = 0;
  std::vector<double> density;                     ///< delta
  std::vector<std::array<float, 3>> displacement;  ///< psi [Mpc]

  double cell() const { return box / double(n); }
};

/// From the waves of the seed. A wave depends on the seed and its number of periods alone: a finer cube has the same
/// large structures. Waves of the Nyquist frequency are left out. Those of less than `smoothing` [Mpc] are damped by
/// exp(-k^2 smoothing^2/2).
LinearField make_field(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed, double smoothing);
/// The density of it alone.
std::vector<double> make_density(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed,
                                 double smoothing);

/// The least smoothing [Mpc] with which the density's standard deviation is at most `deviation`; 0 where the mesh is
/// coarse enough by itself.
double smoothing_for(const PowerSpectrum& power, double cell, double deviation);

}  // namespace thor::mock
