#pragma once

namespace thor {

/// Dust of the Magellanic Clouds.
enum class DustLaw { smc, lmc };

/// Extinction cross-section per hydrogen atom at a wavelength [cm], of gas with the metallicity of the cloud [cm^2]:
///   sigma_d = sigma_0 sum_i a_i/(x^{p_i} + x^{-q_i} + b_i),  x = lambda/lambda_i
/// (Pei 1992, ApJ 395, 130, as refitted by Gnedin, Kravtsov & Chen 2008, ApJ 672, 765, eq. 17 and table 2; used by
/// Laursen, Sommer-Larsen & Andersen 2009, ApJ 704, 1640, section 2.1).
double dust_cross_section(DustLaw law, double wavelength);

/// Z_0: metallicity of the cloud in units of the solar one, -0.6 (SMC) and -0.3 dex (LMC) (Welty et al. 1997, 1999, in
/// Laursen et al. 2009, section 2.2.1). The Sun is that of `thor grid --solar-metallicity`, 0.0127 by mass (Wiersma et
/// al. 2009, MNRAS 393, 99, table 1), whose 12 + log(O/H) = 8.69 puts the oxygen of the clouds (8.03 and 8.35; Russell
/// & Dopita 1992, ApJ 384, 508) at -0.66 and -0.34 dex. See docs/lines.md#dust-by-a-law.
double dust_metallicity(DustLaw law);

}  // namespace thor
