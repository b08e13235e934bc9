#include "thor/io/png/scale.hpp"

#include <algorithm>
#include <cmath>

#include "thor/io/png/colour_map.hpp"

namespace thor::io {

Scale::Scale(std::span<const double> values, double decades) {
  double least = HUGE_VAL, smallest = 0, largest = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    smallest = std::min(smallest, v), largest = std::max(largest, v);
    if (!(v > 0)) continue;
    high = dark ? v : std::max(high, v);
    least = std::min(least, v);
    dark = false;
  }
  if (!dark) low = std::clamp(least, high / std::pow(10, decades), high / 10);
  if (smallest < 0) linear = true, dark = false, low = smallest, high = std::max(largest, 0.);
}

double Scale::operator()(double value) const {
  if (linear) return (value - low) / (high - low);
  return value > low ? std::log(value / low) / std::log(high / low) : 0;
}

Colour Scale::colour(double value) const {
  return std::isfinite(value) ? colour_of((*this)(value)) : Colour{128, 128, 128};
}

}  // namespace thor::io
