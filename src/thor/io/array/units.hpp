#pragma once
#include "thor/core/units.hpp"
#include "thor/io/array/input.hpp"

namespace thor::io {

/// The attribute `units` of an array, "" without one. Error(input) if it is not a text, or if another spelling of it
/// (`unit`, `Units`) says otherwise: a number would else count as cgs, without a word.
std::string units_of(const Input& input, const std::string& array);

/// Factor from an array's units to cgs, by its attribute `units`; 1 without one. Error(input) if that is not a unit of
/// `dimension`.
double cgs_unit(const Input& input, const std::string& array, Dimension dimension);

/// The same for an emissivity [erg s^-1 cm^-3].
double emissivity_unit(const Input& input, const std::string& array);

/// Rewrites "g cm^-3" and "g cm**-3" as "g/cm3".
std::string plain_unit(const std::string& unit);

}  // namespace thor::io
