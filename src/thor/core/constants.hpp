#pragma once
#include <numbers>

/// Physical constants in cgs. CODATA 2018 (exact SI values where defined so), IAU 2015 for lengths.
namespace thor::constants {

inline constexpr double pi = std::numbers::pi;
inline constexpr double c = 2.99792458e10;           // speed of light [cm/s], exact
inline constexpr double h = 6.62607015e-27;          // Planck [erg s], exact
inline constexpr double k_B = 1.380649e-16;          // Boltzmann [erg/K], exact
inline constexpr double e = 4.803204712570263e-10;   // elementary charge [esu]
inline constexpr double m_e = 9.1093837015e-28;      // electron mass [g]
inline constexpr double m_u = 1.66053906660e-24;     // atomic mass constant [g]
inline constexpr double pc = 3.0856775814913673e18;  // parsec [cm], IAU 2015 B2
inline constexpr double au = 1.495978707e13;         // astronomical unit [cm], IAU 2012 B2
inline constexpr double angstrom = 1e-8;             // [cm]
inline constexpr double km = 1e5;                    // [cm]

}  // namespace thor::constants
