#pragma once
#include "thor/mock/options.hpp"

namespace thor::mock {

/// Linear growth factor, 1 today: H(a) times the integral of da/(a H)^3.
double growth(const Cosmology& cosmology, double redshift);
/// f = dlnD/dlna, as Omega_m(a)^0.55 (Linder 2005, PRD 72, 043529).
double growth_rate(const Cosmology& cosmology, double redshift);

/// Linear power spectrum of matter: A k^n T^2(k) D^2(z), with the no-wiggle transfer function of Eisenstein & Hu
/// (1998, ApJ 496, 605, eqs. 26 and 28-31) and A from sigma_8.
class PowerSpectrum {
 public:
  explicit PowerSpectrum(const BoxOptions& options);

  double operator()(double k) const;  ///< [Mpc^3], k in 1/Mpc, all comoving
  double transfer(double k) const;

 private:
  Cosmology cosmology_;
  double baryons_, index_, amplitude_ = 1;
};

}  // namespace thor::mock
