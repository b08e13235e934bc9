#pragma once
#include "thor/core/constants.hpp"

/// Limits of gas properties, for `thor grid` and for a run.
namespace thor {

inline constexpr double coldest_gas = 0.1;   ///< [K]; in colder gas damping broadens the line more than heat
inline constexpr double hottest_gas = 1e12;  ///< [K]
inline constexpr double densest_gas = 1e5;   ///< [g/cm^3]

/// Largest speed of gas and sources [cm/s], the length of the velocity vector: Doppler shifts are to first order in
/// v/c.
inline constexpr double fastest_gas = 0.1 * constants::c;

}  // namespace thor
