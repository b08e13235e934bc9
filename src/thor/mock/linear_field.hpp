#pragma once
#include <vector>

#include "thor/mock/power_spectrum.hpp"
#include "thor/mock/snapshot.hpp"

namespace thor::mock {

/// A Gaussian random field on n^3 points of a periodic cube (index (i n + j) n + k), and the displacement that produces
/// it to first order: delta = -div psi. Lengths are in comoving Mpc.
struct LinearField {
  std::size_t n = 0;
  double box = 0;
  std::vector<double> density;                     ///< delta
  std::vector<std::array<float, 3>> displacement;  ///< psi [Mpc]

  double cell() const { return box / double(n); }
};

/// Field for a seed. A wave depends only on the seed and its number of periods: a finer cube has the same large
/// structures. Waves at the Nyquist frequency are omitted. Those shorter than `smoothing` [Mpc] are damped by exp(-k^2
/// smoothing^2/2).
LinearField make_field(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed, double smoothing);
/// Only the density of that field.
std::vector<double> make_density(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed,
                                 double smoothing);

/// Smallest smoothing length [Mpc] for which the standard deviation of the density is at most `deviation`; 0 if the
/// mesh is coarse enough.
double smoothing_for(const PowerSpectrum& power, double cell, double deviation);

}  // namespace thor::mock
