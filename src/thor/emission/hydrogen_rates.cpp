#include "thor/emission/hydrogen_rates.hpp"

#include <algorithm>
#include <cmath>

namespace thor::emission {

double alpha_A(double temperature) {
  const double lambda = 2 * 157807 / temperature;
  return 1.269e-13 * std::pow(lambda, 1.503) / std::pow(1 + std::pow(lambda / 0.522, 0.47), 1.923);
}

double collisional_ionization(double temperature) {
  const double u = 13.6 / (8.617333e-5 * temperature);  // E/kT with Voronov's own energy in eV
  return 2.91e-8 * std::pow(u, 0.39) * std::exp(-u) / (0.232 + u);
}

double shielding_density(double rate, double temperature, double redshift) {
  constexpr double sigma[] = {2.59e-18, 2.37e-18, 2.27e-18, 2.15e-18, 2.02e-18, 1.94e-18};  // [cm^2] at z = 0 to 5
  const double z = std::clamp(redshift, 0.0, 5.0);
  const int low = std::min(int(z), 4);
  const double mean = sigma[low] + (z - low) * (sigma[low + 1] - sigma[low]);
  return 6.73e-3 * std::pow(mean / 2.49e-18, -2.0 / 3) * std::pow(temperature / 1e4, 0.17) *
         std::pow(rate / 1e-12, 2.0 / 3);
}

double shielding(double hydrogen_density, double shielding_density) {
  const double ratio = hydrogen_density / shielding_density;
  return 0.98 * std::pow(1 + std::pow(ratio, 1.64), -2.28) + 0.02 * std::pow(1 + ratio, -0.84);
}

}  // namespace thor::emission
