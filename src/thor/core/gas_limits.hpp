#pragma once
#include "thor/core/constants.hpp"

/// Limits on the gas that `thor grid` and a run accept.
namespace thor {

inline constexpr double coldest_gas = 0.1;   ///< [K]; in colder gas natural broadening exceeds thermal broadening
inline constexpr double hottest_gas = 1e12;  ///< [K]
inline constexpr double densest_gas = 1e5;   ///< [g/cm^3]

/// Largest speed of gas or of a source [cm/s]: Doppler shifts are computed to first order in v/c.
inline constexpr double fastest_gas = 0.1 * constants::c;

}  // namespace thor
