#pragma once
#include <span>

#include "thor/io/png/png.hpp"

namespace thor::io {

/// The scale on which values are drawn: logarithmic, from the largest down to the least that is not 0, at least one
/// decade and at most so many; where some are negative, linear from the least to the largest.
struct Scale {
  double low = 1, high = 10;
  bool dark = true;     ///< nothing is above 0
  bool linear = false;  ///< some are below 0

  Scale(std::span<const double> values, double decades);
  double operator()(double value) const;  ///< place between the ends, 0 to 1
  Colour colour(double value) const;      ///< grey for what is no number
};

}  // namespace thor::io
