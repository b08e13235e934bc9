#pragma once

/// What sets the ionisation of hydrogen. Sources and ranges: docs/emission.md.
namespace thor::emission {

/// Case-A recombination coefficient [cm^3/s]: Hui & Gnedin (1997), 3 to 1e9 K.
double alpha_A(double temperature);

/// Ionisation by electrons [cm^3/s]: Voronov (1997, ADNDT 65, 1), 1 eV to 20 keV.
double collisional_ionization(double temperature);

/// Where gas begins to shield itself from the UV background [cm^-3]: Rahmati et al. (2013), eq. 13, with their grey
/// cross section of the Faucher-Giguère et al. (2009) background (table 2; beyond z = 5 that of z = 5) and f_g = 0.17.
/// `rate` is the photoionisation rate of the background [1/s].
double shielding_density(double rate, double temperature, double redshift);

/// Share of the background's photoionisation rate that is left: Rahmati et al. (2013), eq. 14.
double shielding(double hydrogen_density, double shielding_density);

}  // namespace thor::emission
