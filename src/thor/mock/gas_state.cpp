#include "thor/mock/gas_state.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "thor/mock/snapshot.hpp"

namespace thor::mock {
namespace {

struct Background {
  double redshift, rate;  ///< [1e-12 1/s]
};
constexpr Background background[] = {{0, 0.0606}, {0.25, 0.153}, {0.5, 0.297}, {0.75, 0.493}, {1, 0.712},
                                     {1.5, 1.09}, {2, 1.23},     {2.5, 1.19},  {3, 1.06},     {4, 0.844},
                                     {5, 0.751},  {5.8, 0.61},   {6.5, 2e-4},  {7, 8e-5},     {10, 1.4e-5}};

/// Coefficients of case-A recombination and collisional ionisation [cm^3/s].
double recombination(double temperature) {
  const double l = 315614 / temperature;
  return 1.269e-13 * std::pow(l, 1.503) / std::pow(1 + std::pow(l / 0.522, 0.470), 1.923);
}
double collisional_ionization(double temperature) {
  const double l = 315614 / temperature;
  return 21.11 * std::pow(temperature, -1.5) * std::exp(-l / 2) * std::pow(l, -1.089) /
         std::pow(1 + std::pow(l / 0.354, 0.874), 1.101);
}

}  // namespace

double photoionization_rate(double redshift) {
  const auto* above = std::find_if(std::begin(background) + 1, std::end(background) - 1,
                                   [&](const Background& b) { return b.redshift >= redshift; });
  const Background &low = *(above - 1), &high = *above;
  const double part = std::min((redshift - low.redshift) / (high.redshift - low.redshift), 1.);
  return 1e-12 * low.rate * std::pow(high.rate / low.rate, part);
}

double hydrogen_density(double density) { return hydrogen_share * density / proton_mass; }

double neutral_fraction(double hydrogen_density, double temperature, double rate) {
  const double threshold = 6.73e-3 * std::pow(temperature / 1e4, 0.17) * std::pow(rate / 1e-12, 2. / 3);
  const double ratio = hydrogen_density / threshold;
  const double shielded =
      rate * (0.98 * std::pow(1 + std::pow(ratio, 1.64), -2.28) + 0.02 * std::pow(1 + ratio, -0.84));
  // With n_e = e (1 - x) n_H: x (shielded + b e n (1 - x)) = a e n (1 - x)^2, a quadratic equation in x.
  const double e = (1 + helium_number) * hydrogen_density;
  const double a = recombination(temperature) * e, b = collisional_ionization(temperature) * e;
  const double p = a + b, q = shielded + b + 2 * a;
  return 2 * a / (q + std::sqrt(std::max(q * q - 4 * p * a, 0.)));
}

double electron_abundance(double neutral, double temperature) {
  return (1 - neutral) * (1 + helium_number * (temperature > 1e5 ? 2 : 1));
}

double molecular_weight(double electron_abundance) {
  return 4 / (1 + 3 * hydrogen_share + 4 * hydrogen_share * electron_abundance);
}

double internal_energy(double temperature, double electron_abundance) {
  return 1.5 * constants::k_B * temperature / (molecular_weight(electron_abundance) * proton_mass);
}

}  // namespace thor::mock
