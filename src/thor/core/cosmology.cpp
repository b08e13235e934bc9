#include "thor/core/cosmology.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"

namespace thor {
namespace {

[[noreturn]] void refuse(const Cosmology& c, const std::string& why) {
  throw Error(ExitCode::input, fmt::format("cosmology with h = {:g}, Omega_m = {:g}, Omega_Lambda = {:g}: {}", c.h,
                                           c.omega_m, c.omega_lambda, why));
}

double curvature(const Cosmology& c) {
  const double k = 1 - c.omega_m - c.omega_lambda;
  return std::abs(k) < 1e-9 ? 0 : k;  // 0.3089 + 0.6911 is not always exactly 1
}

double hubble_today(const Cosmology& c, double redshift) {
  if (!(c.h > 0) || !(c.omega_m >= 0) || !std::isfinite(c.h + c.omega_m + c.omega_lambda)) {
    refuse(c, "h must be positive and Omega_m not negative");
  }
  if (!(redshift > -1) || !std::isfinite(redshift)) {
    refuse(c, fmt::format("redshift {:g} is impossible; it must be above -1", redshift));
  }
  return 100 * c.h * constants::km / (1e6 * constants::pc);
}

/// Integral of da/(a E(a)) from 0 to 1/(1+z) by Simpson's rule. With a = x^2 the integrand is 2 x^2/sqrt(Om + Ok x^2 +
/// OL x^6), which is smooth at 0.
double integrated_age(const Cosmology& c, double redshift) {
  const double end = 1 / std::sqrt(1 + redshift), k = curvature(c);
  const int steps = 2000;
  const double width = end / steps;
  double sum = 0;
  for (int i = 1; i <= steps; ++i) {
    const double x = i * width, x2 = x * x;
    const double square = c.omega_m + k * x2 + c.omega_lambda * x2 * x2 * x2;
    if (!(square > 0)) refuse(c, fmt::format("it has no big bang before redshift {:g}", redshift));
    sum += (i == steps ? 1 : i % 2 ? 4 : 2) * 2 * x2 / std::sqrt(square);
  }
  return sum * width / 3;
}

/// Transverse comoving distance [cm]. The integral of dz/E(z) from 0 is done by Simpson's rule in ln(1+z), where the
/// integrand is smooth for any redshift.
double transverse_distance(const Cosmology& c, double redshift) {
  const double today = c.hubble(0), k = curvature(c);
  const int steps = 2000;
  const double width = std::log1p(redshift) / steps;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double z = std::expm1(i * width), weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
    sum += weight * (1 + z) * today / c.hubble(z);
  }
  const double along = sum * width / 3, root = std::sqrt(std::abs(k));
  const double across = k > 0 ? std::sinh(root * along) / root : k < 0 ? std::sin(root * along) / root : along;
  return constants::c / today * across;
}

}  // namespace

double Cosmology::hubble(double redshift) const {
  const double today = hubble_today(*this, redshift), stretch = 1 + redshift;
  const double square = stretch * stretch * (omega_m * stretch + curvature(*this)) + omega_lambda;
  if (!(square >= 0)) refuse(*this, fmt::format("it never had the size of redshift {:g}", redshift));
  return today * std::sqrt(square);
}

double Cosmology::age(double redshift) const {
  const double today = hubble_today(*this, redshift);
  if (!(omega_m > 0)) refuse(*this, "its age is infinite; Omega_m must be positive");
  if (curvature(*this) != 0 || omega_lambda < 0) return integrated_age(*this, redshift) / today;
  if (omega_lambda == 0) return 2 / (3 * hubble(redshift));
  const double root = std::sqrt(omega_lambda);
  return 2 / (3 * today * root) * std::asinh(std::sqrt(omega_lambda / omega_m) * std::pow(1 + redshift, -1.5));
}

double Cosmology::luminosity_distance(double redshift) const {
  return (1 + redshift) * transverse_distance(*this, redshift);
}

double Cosmology::angular_distance(double redshift) const {
  return transverse_distance(*this, redshift) / (1 + redshift);
}

}  // namespace thor
