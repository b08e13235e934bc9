#pragma once
#include "thor/core/units.hpp"

/// Lyα luminosity from the ionising light of stars. Sources: docs/emission.md.
namespace thor::emission {

using thor::solar_mass;
inline constexpr double year = 3.15576e7;  ///< [s], Julian

/// Rate of hydrogen-ionising photons from a coeval population of this initial mass [1/s]; cgs, metallicity as mass
/// fraction. BPASS 2.2 (Stanway & Eldridge 2018) with binaries: logarithms are interpolated linearly in those of age
/// and metallicity; constant below 1e6 years, zero from 1e8 years on; Z is clamped to 0.002 to 0.02.
double ionizing_rate(double mass, double age, double metallicity);

double lya_of_ionizing_rate(double rate);          ///< 0.68 E_Lya Q [erg/s]: case B at 1e4 K, no photon escapes
double lya_of_sfr(double sfr, double efficiency);  ///< f_eff SFR/(M_sun/yr) 1e42 [erg/s]; sfr in M_sun/yr

}  // namespace thor::emission
