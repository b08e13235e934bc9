#include "thor/emission/collisional_excitation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thor/core/constants.hpp"
#include "thor/emission/recombination.hpp"

namespace thor::emission {
namespace {

/// Scholz & Walters (1991, ApJ 380, 302), 1s-2p.
struct Fit {
  double up_to;  ///< [K]
  double c[6];
};
constexpr Fit fits[] = {
    {6e4, {-1.630155e2, 8.795711e1, -2.057117e1, 2.359573e0, -1.339059e-1, 3.021507e-3}},
    {6e6, {5.279996e2, -1.939399e2, 2.718982e1, -1.883399e0, 6.462462e-2, -8.811076e-4}},
    {1e8, {-2.8133632e3, 8.1509685e2, -9.4418414e1, 5.4280565e0, -1.5467120e-1, 1.7439112e-3}},
};
constexpr double coldest = 2e3, hottest = 1e8;

}  // namespace

double gamma_1s2p(double temperature) {
  if (!(temperature > 0)) return std::numeric_limits<double>::quiet_NaN();
  // Beyond the fits the effective collision strength is constant, so the coefficient varies as T^-1/2 exp(-E/kT).
  const double inside = std::clamp(temperature, coldest, hottest);
  const Fit& fit = *std::ranges::find_if(fits, [&](const Fit& f) { return inside <= f.up_to; });
  const double y = std::log(inside);
  double sum = 0;
  for (int i = 5; i >= 0; --i) sum = sum * y + fit.c[i];
  return std::exp(sum - lya_energy / (constants::k_B * temperature)) * std::sqrt(inside / temperature);
}

double collisional_emissivity(double temperature, double electron_density, double HI_density) {
  return gamma_1s2p(temperature) * electron_density * HI_density * lya_energy;
}

}  // namespace thor::emission
