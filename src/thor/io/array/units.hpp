#pragma once
#include "thor/core/units.hpp"
#include "thor/io/array/input.hpp"

namespace thor::io {

/// Factor from an array's units to cgs, by its attribute `units`; 1 without one. Error(input) if that is not a unit of
/// `dimension`.
double cgs_unit(const Input& input, const std::string& array, Dimension dimension);

/// The same for an emissivity [erg s^-1 cm^-3].
double emissivity_unit(const Input& input, const std::string& array);

/// Rewrites "g cm^-3" and "g cm**-3" as "g/cm3".
std::string plain_unit(const std::string& unit);

}  // namespace thor::io
