#pragma once

/// Ionisation and thermal state of gas in a mock, by rules simple enough to be checked: docs/mock.md.
namespace thor::mock {

inline constexpr double hydrogen_share = 0.76;                                        ///< mass fraction
inline constexpr double helium_number = (1 - hydrogen_share) / (4 * hydrogen_share);  ///< n_He/n_H

/// Photoionisation rate of hydrogen by the UV background [1/s]: Puchwein et al. (2019, MNRAS 485, 47), their fiducial
/// model, interpolated between a few redshifts.
double photoionization_rate(double redshift);

double hydrogen_density(double density);  ///< [cm^-3], from a mass density [g/cm^3]

/// n_HI/n_H in equilibrium between photoionisation, attenuated in dense gas (Rahmati et al. 2013, MNRAS 430, 2427, eq.
/// 14 with their eq. 13), collisional ionisation and recombination (Hui & Gnedin 1997, MNRAS 292, 27; case A).
double neutral_fraction(double hydrogen_density, double temperature, double photoionization_rate);

/// n_e/n_H: helium provides one electron where hydrogen is ionised, and two above 1e5 K.
double electron_abundance(double neutral_fraction, double temperature);

/// Mean particle mass in units of the proton mass.
double molecular_weight(double electron_abundance);

double internal_energy(double temperature, double electron_abundance);  ///< [erg/g], gamma = 5/3

}  // namespace thor::mock
