#pragma once
#include <span>

#include "thor/io/png/png.hpp"

namespace thor::io {

/// The scale on which values are drawn: logarithmic, from the largest down to the least that is not 0, at least one
/// decade and at most so many; where some are negative, or where they are to diverge, linear from minus the largest
/// absolute value to the largest, in colours that diverge from 0.
struct Scale {
  double low = 1, high = 10;
  bool dark = true;     ///< nothing is above 0
  bool linear = false;  ///< and in diverging colours

  Scale(std::span<const double> values, double decades, bool diverging = false);
  double operator()(double value) const;  ///< place between the ends, 0 to 1
  Colour colour(double value) const;      ///< grey for NaN
  Colour colour_at(double place) const;   ///< between the ends, 0 to 1
};

}  // namespace thor::io
