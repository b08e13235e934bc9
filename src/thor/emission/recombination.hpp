#pragma once
#include "thor/core/constants.hpp"

/// Lyα emission of recombining hydrogen, paper eq. lumrec: epsilon = f_rec(T) alpha_B(T) n_e n_HII E_Lya. Formulas,
/// sources and ranges: docs/emission.md. A temperature that is not positive gives NaN in every function here.
namespace thor::emission {

inline constexpr double lya_energy = constants::h * constants::c / 1215.6701e-8;  ///< 1.634e-11 [erg]

/// Case-B recombination coefficient [cm^3/s]: Draine (2011, eq. 14.6) in its range of 30 to 3e4 K; outside, the shape
/// of Hui & Gnedin (1997), joined to it.
double alpha_B(double temperature);

/// f_rec, Lyα photons per recombination: Cantalupo, Porciani & Lilly (2008), as in Dijkstra (2014); constant outside
/// its range of 100 to 1e5 K.
double recombination_share(double temperature);

/// [erg/s/cm^3]
double recombination_emissivity(double temperature, double electron_density, double HII_density);

}  // namespace thor::emission
