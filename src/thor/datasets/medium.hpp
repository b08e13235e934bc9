#pragma once
#include <variant>

#include "thor/core/error.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/datasets/sphere.hpp"
#include "thor/line/line.hpp"

namespace thor {

/// The gas of a run: its normalisation in cgs and the dataset that the kernel sees.
struct Medium {
  double size;            ///< outer radius or half-thickness, the unit of length [cm]
  double temperature;     ///< [K]
  double b_turb;          ///< [cm/s]
  double thermal_speed;   ///< incl. turbulence, of the first transition: the unit of velocity [cm/s]
  double a;               ///< Voigt parameter of the first transition
  double cross_section;   ///< its sigma_0 [cm^2]
  double tau0;            ///< its line-centre optical depth along a radius
  double column_density;  ///< along the same path [cm^-2]
  double number_density;  ///< at the outer edge [cm^-3]
  struct {
    double tau, albedo, g;
  } dust;  ///< extinction along the same path, share of scattering, mean cosine
  std::variant<Sphere<double>, Shell<double>, Slab<double>> dataset;
};

/// Normalises the profiles. What has no finite normalisation or cannot be resolved is refused; the medium is then not
/// to be used.
Medium build_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse = refuse_at_once);

/// The same dataset in another precision.
template <class Real>
Profile<Real> convert(const Profile<double>& p) {
  return {Real(p.opacity),
          Real(p.density_exponent),
          Real(p.speed),
          Real(p.velocity_exponent),
          Real(p.step_limiter),
          p.graded,
          p.moving,
          p.linear};
}
template <class Real>
Sphere<Real> convert(const Sphere<double>& d) {
  return {Real(d.kappa)};
}
template <class Real>
Shell<Real> convert(const Shell<double>& d) {
  return {Real(d.inner), convert<Real>(d.profile)};
}
template <class Real>
Slab<Real> convert(const Slab<double>& d) {
  return {convert<Real>(d.profile)};
}

}  // namespace thor
