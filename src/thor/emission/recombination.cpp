#include "thor/emission/recombination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thor::emission {
namespace {

double draine(double temperature) {
  const double t4 = temperature / 1e4;
  return 2.54e-13 * std::pow(t4, -0.8163 - 0.0208 * std::log(t4));
}

/// Hui & Gnedin (1997, MNRAS 292, 27, appendix A), case B: within 0.7 % of Ferland et al. (1992) from 1 to 1e9 K.
double hui_gnedin(double temperature) {
  const double lambda = 2 * 157807 / temperature;
  return 2.753e-14 * std::pow(lambda, 1.5) / std::pow(1 + std::pow(lambda / 2.74, 0.407), 2.242);
}

}  // namespace

double alpha_B(double temperature) {
  if (!(temperature > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double inside = std::clamp(temperature, 30.0, 3e4);
  const double value = draine(inside);
  return inside == temperature ? value : value * hui_gnedin(temperature) / hui_gnedin(inside);
}

double recombination_share(double temperature) {
  if (!(temperature > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double t4 = std::clamp(temperature, 100.0, 1e5) / 1e4;
  return 0.686 - 0.106 * std::log10(t4) - 0.009 * std::pow(t4, -0.44);
}

double recombination_emissivity(double temperature, double electron_density, double HII_density) {
  return recombination_share(temperature) * alpha_B(temperature) * electron_density * HII_density * lya_energy;
}

}  // namespace thor::emission
