#include "thor/emission/stars.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "thor/emission/recombination.hpp"

namespace thor::emission {
namespace {

/// log10 of the photons/s from 1e6 M_sun at log10(age/yr) = 6.0, 6.1 ... 8.0: BPASS 2.2, binaries, IMF 135_300 (slope
/// -1.30 from 0.1 to 0.5 M_sun, -2.35 to 300 M_sun).
struct Population {
  double metallicity;
  double log_rate[21];
};
constexpr Population populations[] = {
    {0.002,
     {52.89985, 52.96633, 52.96745, 52.91836, 52.86290, 52.72671, 52.54210, 52.29121, 52.02384, 51.74867, 51.49115,
      51.23225, 50.86786, 50.58973, 50.23537, 50.11069, 49.95235, 49.85506, 49.65484, 49.52196, 49.35640}},
    {0.020,
     {52.82161, 52.73535, 52.67549, 52.58268, 52.46626, 52.32621, 52.10127, 51.82518, 51.50395, 51.28519, 51.00244,
      50.76094, 50.49628, 50.29701, 50.06910, 49.96711, 49.81259, 49.67692, 49.63839, 49.42543, 49.24544}},
};
constexpr double youngest = 6, oldest = 8, step = 0.1;

double log_rate(const Population& population, double log_age) {
  const double place = (std::max(log_age, youngest) - youngest) / step;
  const auto low = std::min(std::size_t(place), std::size(population.log_rate) - 2);
  return std::lerp(population.log_rate[low], population.log_rate[low + 1], place - double(low));
}

}  // namespace

double ionizing_rate(double mass, double age, double metallicity) {
  if (!(age >= -1e4 * year)) return std::nan("");  // born in the future
  const double log_age = std::log10(std::max(age / year, 1.0));
  if (log_age >= oldest) return 0;
  const auto& [poor, rich] = populations;
  const double z = std::clamp(metallicity, poor.metallicity, rich.metallicity);
  const double weight = std::log(z / poor.metallicity) / std::log(rich.metallicity / poor.metallicity);
  return mass / (1e6 * solar_mass) * std::pow(10, std::lerp(log_rate(poor, log_age), log_rate(rich, log_age), weight));
}

double lya_of_ionizing_rate(double rate) { return 0.68 * lya_energy * rate; }

double lya_of_sfr(double sfr, double efficiency) { return efficiency * sfr * 1e42; }

}  // namespace thor::emission
