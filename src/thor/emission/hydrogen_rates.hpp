#pragma once

/// Rates that set the ionisation of hydrogen. Sources and ranges: docs/emission.md.
namespace thor::emission {

/// Case-A recombination coefficient [cm^3/s]: Hui & Gnedin (1997), 3 to 1e9 K.
double alpha_A(double temperature);

/// Collisional ionisation coefficient [cm^3/s]: Voronov (1997, ADNDT 65, 1), 1 eV to 20 keV.
double collisional_ionization(double temperature);

/// Density n_H above which gas shields itself from the UV background [cm^-3]: Rahmati et al. (2013), eq. 13, with their
/// grey cross section for the Faucher-Giguère et al. (2009) background (table 2; constant beyond z = 5) and f_g = 0.17.
/// `rate` is the photoionisation rate of the background [1/s].
double shielding_density(double rate, double temperature, double redshift);

/// Remaining fraction of the background's photoionisation rate: Rahmati et al. (2013), eq. 14.
double shielding(double hydrogen_density, double shielding_density);

}  // namespace thor::emission
