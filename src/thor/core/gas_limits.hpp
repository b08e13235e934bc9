#pragma once
#include "thor/core/constants.hpp"

/// What gas may be, for `thor grid` and for a run.
namespace thor {

inline constexpr double coldest_gas = 0.1;   ///< [K]; the line is wider by damping than by heat in colder gas
inline constexpr double hottest_gas = 1e12;  ///< [K]
inline constexpr double densest_gas = 1e5;   ///< [g/cm^3]

/// No gas and no source may be faster [cm/s], by the length of its velocity: Doppler shifts are to first order in v/c.
inline constexpr double fastest_gas = 0.1 * constants::c;

}  // namespace thor
