#pragma once
#include "thor/core/units.hpp"
#include "thor/io/array/input.hpp"

namespace thor::io {

/// What one of an array's numbers is in cgs, by its attribute `units`; without one they are in cgs. Error(input) where
/// that is no unit of `dimension`.
double cgs_unit(const Input& input, const std::string& array, Dimension dimension);

/// The same of an emissivity [erg s^-1 cm^-3].
double emissivity_unit(const Input& input, const std::string& array);

/// "g cm^-3" and "g cm**-3" as "g/cm3".
std::string plain_unit(const std::string& unit);

}  // namespace thor::io
