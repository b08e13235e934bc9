#pragma once
#include "thor/io/png/png.hpp"

namespace thor::io {

/// Colour of a value from 0 to 1: "inferno" by N. Smith and S. van der Walt (matplotlib 1.5, 2015; in the public
/// domain, CC0), whose lightness is proportional to the value as people perceive it; every 8th of its 256 colours, and
/// between them on straight lines, good to 2 of 255.
Colour colour_of(double value);

/// Colour of a value from 0 to 1 that diverges from white at 0.5, blue below and red above: "RdBu" of ColorBrewer by
/// C. Brewer and M. Harrower (Apache License 2.0), reversed.
Colour diverging_colour_of(double value);

}  // namespace thor::io
