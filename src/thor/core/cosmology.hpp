#pragma once

namespace thor {

/// A flat or curved universe of matter and a cosmological constant, without radiation (which makes it 5e6 years
/// younger); Planck Collaboration (2016, A&A 594, A13, table 4, last column) by default.
struct Cosmology {
  double h = 0.6774, omega_m = 0.3089, omega_lambda = 0.6911;

  /// H(z) = H0 sqrt(Om (1+z)^3 + Ok (1+z)^2 + OL) with Ok = 1 - Om - OL [1/s].
  double hubble(double redshift) const;
  /// Age of the universe [s]: the integral of da/(a H) from a = 0. A universe without a beginning (no matter, or a
  /// bounce) is an Error(input), as is a redshift of -1 or less.
  double age(double redshift) const;
  /// Luminosity and angular-diameter distance [cm]: (1+z) D_M and D_M/(1+z), with the transverse comoving distance D_M
  /// (Hogg 1999, astro-ph/9905116, equations 15, 16, 18 and 21).
  double luminosity_distance(double redshift) const;
  double angular_distance(double redshift) const;
};

/// Whether a number can be h = H0/(100 km/s/Mpc). This h is also part of a snapshot's units, so an H0 in km/s/Mpc must
/// not pass for it.
inline constexpr double least_h = 0.3, largest_h = 1.2;
inline constexpr bool is_hubble(double h) { return h >= least_h && h <= largest_h; }
inline constexpr const char* not_hubble =
    "expected h = H0/(100 km/s/Mpc) between 0.3 and 1.2, such as 0.6774, and not H0";

}  // namespace thor
