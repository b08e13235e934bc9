#include "thor/datasets/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "thor/core/constants.hpp"
#include "thor/core/gas_limits.hpp"

namespace thor {
namespace {

/// Int r^p dr from `inner` to 1; infinite where it diverges.
double power_integral(double inner, double p) {
  if (std::abs(p + 1) < 1e-12) return inner > 0 ? -std::log(inner) : INFINITY;
  if (inner <= 0) return p > -1 ? 1 / (p + 1) : INFINITY;
  return -std::expm1((p + 1) * std::log(inner)) / (p + 1);
}

/// Whether a power law spans more than single precision holds: 26 decades between inner and outer edge.
bool spans_too_much(double inner, double exponent) {
  return std::abs(exponent * std::log(std::max(inner, profile_floor<double>))) > 60;
}

/// What the kernel can resolve: a power law is flat within profile_floor, and its range must fit single precision.
void check_resolvable(const Refuse& refuse, const std::string& key, double inner, double exponent,
                      double column_exponent) {
  if (inner > 0 && inner < 1e-4) {
    refuse("dataset.inner_radius", "with a power law it must be 0 or at least 1e-4 of the outer radius");
  }
  if (inner == 0 && std::pow(profile_floor<double>, column_exponent + 1) > 0.01) {
    refuse("dataset." + key,
           fmt::format("an exponent of {} is too steep for gas that reaches the centre: more than one per cent of "
                       "the column would lie within 1e-6 of the radius; give an inner_radius above 0",
                       exponent));
  }
  if (spans_too_much(inner, exponent)) {
    refuse("dataset." + key,
           fmt::format("an exponent of {} spans more than 26 decades between inner and outer edge", exponent));
  }
}

/// The speed at r = 1, from the largest or from the distance-averaged speed.
double outer_speed(const Refuse& refuse, const config::Velocity& v, double inner, double beta) {
  if (v.max) {
    if (beta >= 0) return *v.max;
    if (inner <= 0) {
      refuse("dataset.velocity.max",
             "a speed that falls outward from the centre has no largest value; "
             "give velocity.average, or an inner_radius above 0");
    }
    return *v.max * std::pow(inner, -beta);
  }
  const double integral = power_integral(inner, beta);
  if (!std::isfinite(integral)) {
    refuse("dataset.velocity.exponent",
           "the distance-averaged speed diverges at the centre for an "
           "exponent of -1 or less; give an inner_radius above 0");
  }
  return *v.average * (1 - inner) / integral;
}

/// tau_d = sigma_d (N_HI + f_ion N_HII) Z/Z_0 (Laursen et al. 2009, eq. 15).
double dust_depth(const config::Dust& dust, const Line& line, const MediumOutline& m, const Refuse& refuse) {
  if (dust.tau) return *dust.tau;
  if (!dust.hydrogen_column && line.first().ion != "H I") {
    refuse("dataset.dust.hydrogen_column",
           "missing: the gas of line " + line.name + " is not hydrogen, and a dust law counts per hydrogen atom");
  }
  const double hydrogen = dust.hydrogen_column.value_or(m.column_density) + dust.f_ion * dust.ionized_column;
  return dust_cross_section(*dust.law, line.first().wavelength) * hydrogen * dust.metallicity.value_or(0) /
         dust_metallicity(*dust.law);
}

}  // namespace

Model build_model(const config::Dataset& dataset, const Line& line, double size, double inner, const Refuse& refuse) {
  MediumOutline m{};
  m.size = size;
  const AtomicTransition& first = line.first();
  m.temperature = dataset.temperature, m.b_turb = dataset.b_turb;
  m.thermal_speed = first.thermal_speed(dataset.temperature, dataset.b_turb);
  m.a = first.voigt_parameter(m.thermal_speed);
  m.cross_section = first.population * first.cross_section(m.thermal_speed);
  if (m.thermal_speed > 0.1 * constants::c) {
    refuse(
        dataset.b_turb > 0.05 * constants::c ? "dataset.b_turb" : "dataset.temperature",
        fmt::format("the thermal speed comes to {:.3g} km/s, more than a tenth of that of light; the formulas are not "
                    "relativistic",
                    m.thermal_speed / constants::km));
  }
  const bool graded = dataset.density.profile == config::DensityProfile::power_law && dataset.density.exponent != 0;
  const double alpha = graded ? dataset.density.exponent : 0;
  const double path = power_integral(inner, alpha);
  if (!std::isfinite(path)) {
    refuse("dataset.density.exponent",
           "the column density diverges at the centre for an exponent of -1 or less; give an "
           "inner_radius above 0");
  } else if (graded) {
    check_resolvable(refuse, "density.exponent", inner, alpha, alpha);
  }
  if (dataset.tau0) m.column_density = *dataset.tau0 / m.cross_section;
  if (dataset.column_density) m.column_density = *dataset.column_density;
  if (dataset.number_density) m.column_density = *dataset.number_density * m.size * path;
  m.tau0 = m.column_density * m.cross_section;
  m.number_density = m.column_density / (m.size * path);
  if (std::isfinite(path) && !(m.tau0 >= 1e-20 && m.tau0 <= 1e15)) {
    const std::string key = dataset.tau0 ? "tau0" : dataset.column_density ? "column_density" : "number_density";
    refuse("dataset." + key, fmt::format("the line-centre optical depth is {:.3g}; expected 1e-20 to 1e15", m.tau0));
  }

  if (dataset.dust) m.dust = {dust_depth(*dataset.dust, line, m, refuse), dataset.dust->albedo, dataset.dust->g};

  Profile<double> p{};
  p.opacity = m.tau0 / path;
  p.density_exponent = alpha;
  p.graded = graded;
  p.step_limiter = dataset.step_limiter;
  for (const AtomicTransition* t : line.absorbing()) {  // of the narrowest of isotopes
    const double width = t->thermal_speed(m.temperature, m.b_turb) / m.thermal_speed;
    p.step_limiter = std::min(p.step_limiter, dataset.step_limiter * width);
  }
  const double beta = dataset.velocity.profile == config::VelocityProfile::power_law  ? dataset.velocity.exponent
                      : dataset.velocity.profile == config::VelocityProfile::constant ? 0
                                                                                      : 1;
  const bool flows = dataset.velocity.profile != config::VelocityProfile::static_;
  set_velocity(p, flows ? outer_speed(refuse, dataset.velocity, inner, beta) / m.thermal_speed : 0, beta);
  const double fall = std::pow(std::max(inner, profile_floor<double>), std::min(beta, 0.));
  if (!spans_too_much(inner, beta) && std::abs(p.speed) * fall * m.thermal_speed > (1 + 1e-9) * fastest_gas) {
    refuse(
        dataset.velocity.max ? "dataset.velocity.max" : "dataset.velocity.average",
        fmt::format("the largest speed comes to {:.4g} km/s, more than a tenth of that of light; the formulas are not "
                    "relativistic",
                    std::abs(p.speed) * fall * m.thermal_speed / constants::km));
  }
  if (p.moving && !p.linear && std::isfinite(p.speed)) check_resolvable(refuse, "velocity.exponent", inner, beta, 0);
  return {m, p};
}

}  // namespace thor
