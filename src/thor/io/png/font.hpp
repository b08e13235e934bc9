#pragma once
#include <string>
#include <string_view>

#include "thor/io/png/png.hpp"

namespace thor::io {

/// Letters of 5 x 7 points, with 2 more rows below the line for g, j, p, q and y. A point is a square of `scale`
/// pixels.
inline constexpr int letter_step = 6;    ///< points from one letter to the next
inline constexpr int letter_height = 7;  ///< points above the line

enum class Direction { right, up };

/// Writes text from the left end of its line; returns the width in pixels. After ^ the digits and signs of a power
/// stand half as large and raised: "cm^-2". Beside ASCII there is a capital delta; other characters are "?".
int draw_text(Raster& raster, int x, int y, std::string_view text, int scale, Colour colour,
              Direction direction = Direction::right);

int text_width(std::string_view text, int scale);

/// A unit such as "erg s-1 kpc-2" with its powers raised.
std::string raised_powers(std::string_view unit);

}  // namespace thor::io
