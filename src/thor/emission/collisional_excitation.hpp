#pragma once

/// Lyα emission of collisionally excited hydrogen, paper eq. lumrec: epsilon = gamma_1s2p(T) n_e n_HI E_Lya. Excitation
/// to higher levels, which may cascade to 2p, is not included.
namespace thor::emission {

/// Scholz & Walters (1991): exp(sum_i c_i (ln T)^i) exp(-E_Lya/kT), three sets of coefficients from 2e3 to 1e8 K
/// [cm^3/s]. Other calculations are up to 24 % higher: docs/notes/emission.md. NaN for a temperature that is not
/// positive.
double gamma_1s2p(double temperature);

/// [erg/s/cm^3]
double collisional_emissivity(double temperature, double electron_density, double HI_density);

}  // namespace thor::emission
