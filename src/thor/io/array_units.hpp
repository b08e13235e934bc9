#pragma once
#include "thor/core/units.hpp"
#include "thor/io/input.hpp"

namespace thor::io {

/// What one of an array's numbers is in cgs, by its attribute `units`; without one they are in cgs. Error(input) where
/// that is no unit of `dimension`.
double cgs_unit(const Input& input, const std::string& array, Dimension dimension);

}  // namespace thor::io
