#include "thor/mock/power_spectrum.hpp"

#include <cmath>

#include "thor/core/constants.hpp"

namespace thor::mock {
namespace {

/// H/H_0
double expansion(const Cosmology& c, double a) {
  return std::sqrt(c.omega_m / (a * a * a) + (1 - c.omega_m - c.omega_lambda) / (a * a) + c.omega_lambda);
}

double unnormalized_growth(const Cosmology& c, double a) {
  constexpr int steps = 2000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = a * (i + 0.5) / steps, term = x * expansion(c, x);
    sum += 1 / (term * term * term);
  }
  return expansion(c, a) * sum * a / steps;
}

}  // namespace

double growth(const Cosmology& cosmology, double redshift) {
  return unnormalized_growth(cosmology, 1 / (1 + redshift)) / unnormalized_growth(cosmology, 1);
}

double growth_rate(const Cosmology& cosmology, double redshift) {
  const double a = 1 / (1 + redshift), e = expansion(cosmology, a);
  return std::pow(cosmology.omega_m / (a * a * a * e * e), 0.55);
}

PowerSpectrum::PowerSpectrum(const BoxOptions& o)
    : cosmology_(o.cosmology), baryons_(o.omega_b), index_(o.spectral_index) {
  // sigma^2(R) = integral of k^3 P/(2 pi^2) W^2(k R) dlnk, with W for a ball of R = 8 Mpc/h
  const double radius = 8 / cosmology_.h;
  constexpr int steps = 4000;
  const double first = std::log(1e-5), last = std::log(1e2), step = (last - first) / steps;
  double variance = 0;
  for (int i = 0; i < steps; ++i) {
    const double k = std::exp(first + (i + 0.5) * step), x = k * radius;
    const double window = x < 1e-2 ? 1 - x * x / 10 : 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    variance += k * k * k * (*this)(k) / (2 * constants::pi * constants::pi) * window * window * step;
  }
  const double d = growth(cosmology_, o.redshift);
  amplitude_ = o.sigma8 * o.sigma8 / variance * d * d;
}

double PowerSpectrum::transfer(double k) const {
  const double h = cosmology_.h, matter = cosmology_.omega_m * h * h, baryon = baryons_ * h * h;
  const double share = baryons_ / cosmology_.omega_m;
  const double sound = 44.5 * std::log(9.83 / matter) / std::sqrt(1 + 10 * std::pow(baryon, 0.75));  // [Mpc]
  const double alpha = 1 - 0.328 * std::log(431 * matter) * share + 0.38 * std::log(22.3 * matter) * share * share;
  const double shape = cosmology_.omega_m * h * (alpha + (1 - alpha) / (1 + std::pow(0.43 * k * sound, 4)));
  const double theta = 2.7255 / 2.7;  // temperature of the microwave background over 2.7 K
  const double q = k / h * theta * theta / shape;
  const double l = std::log(2 * std::exp(1.) + 1.8 * q), c = 14.2 + 731 / (1 + 62.5 * q);
  return l / (l + c * q * q);
}

double PowerSpectrum::operator()(double k) const {
  const double t = transfer(k);
  return amplitude_ * std::pow(k, index_) * t * t;
}

}  // namespace thor::mock
