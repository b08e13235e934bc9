#include "thor/io/png/scale.hpp"

#include <algorithm>
#include <cmath>

#include "thor/io/png/colour_map.hpp"

namespace thor::io {

Scale::Scale(std::span<const double> values, double decades, bool diverging) {
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
  if (smallest < 0 || (diverging && !dark)) {
    linear = true, dark = false;
    high = std::max(-smallest, largest), low = -high;
  }
}

double Scale::operator()(double value) const {
  if (linear) return (value - low) / (high - low);
  return value > low ? std::log(value / low) / std::log(high / low) : 0;
}

Colour Scale::colour(double value) const {
  return std::isfinite(value) ? colour_at((*this)(value)) : Colour{128, 128, 128};
}

Colour Scale::colour_at(double place) const { return linear ? diverging_colour_of(place) : colour_of(place); }

}  // namespace thor::io
