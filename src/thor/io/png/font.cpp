#include "thor/io/png/font.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace thor::io {
namespace {

/// Rows from the top, divided by |, with # where there is ink; from "!" (33) to "~" (126).
constexpr std::array<std::string_view, 94> letters{
    "  #|  #|  #|  #|  #||  #",                     // !
    " # #| # #| # #",                               // "
    " # #| # #|#####| # #|#####| # #| # #",         // #
    "  #| ####|# #| ###|  # #|####|  #",            // $
    "##  #|##  #|   #|  #| #|#  ##|#  ##",          // %
    " ##|#  #|# #| #|# # #|#  #| ## #",             // &
    "  #|  #|  #",                                  // '
    "   #|  #| #| #| #|  #|   #",                   // (
    " #|  #|   #|   #|   #|  #| #",                 // )
    "|  #|# # #| ###|# # #|  #",                    // *
    "|  #|  #|#####|  #|  #",                       // +
    "|||||  ##|  ##|  #| #",                        // ,
    "|||#####",                                     // -
    "|||||  ##|  ##",                               // .
    "    #|    #|   #|  #| #|#|#",                  // /
    " ###|#   #|#  ##|# # #|##  #|#   #| ###",      // 0
    "  #| ##|  #|  #|  #|  #| ###",                 // 1
    " ###|#   #|    #|   #|  #| #|#####",           // 2
    "#####|   #|  #|   #|    #|#   #| ###",         // 3
    "   #|  ##| # #|#  #|#####|   #|   #",          // 4
    "#####|#|####|    #|    #|#   #| ###",          // 5
    "  ##| #|#|####|#   #|#   #| ###",              // 6
    "#####|    #|   #|  #| #| #| #",                // 7
    " ###|#   #|#   #| ###|#   #|#   #| ###",       // 8
    " ###|#   #|#   #| ####|    #|   #| ##",        // 9
    "|  ##|  ##||  ##|  ##",                        // :
    "|  ##|  ##||  ##|  ##|  #| #",                 // ;
    "   #|  #| #|#| #|  #|   #",                    // <
    "||#####||#####",                               // =
    " #|  #|   #|    #|   #|  #| #",                // >
    " ###|#   #|    #|   #|  #||  #",               // ?
    " ###|#   #|# ###|# # #|# ###|#| ###",          // @
    " ###|#   #|#   #|#####|#   #|#   #|#   #",     // A
    "####|#   #|#   #|####|#   #|#   #|####",       // B
    " ###|#   #|#|#|#|#   #| ###",                  // C
    "###|#  #|#   #|#   #|#   #|#  #|###",          // D
    "#####|#|#|####|#|#|#####",                     // E
    "#####|#|#|####|#|#|#",                         // F
    " ###|#   #|#|# ###|#   #|#   #| ####",         // G
    "#   #|#   #|#   #|#####|#   #|#   #|#   #",    // H
    " ###|  #|  #|  #|  #|  #| ###",                // I
    "  ###|   #|   #|   #|   #|#  #| ##",           // J
    "#   #|#  #|# #|##|# #|#  #|#   #",             // K
    "#|#|#|#|#|#|#####",                            // L
    "#   #|## ##|# # #|# # #|#   #|#   #|#   #",    // M
    "#   #|#   #|##  #|# # #|#  ##|#   #|#   #",    // N
    " ###|#   #|#   #|#   #|#   #|#   #| ###",      // O
    "####|#   #|#   #|####|#|#|#",                  // P
    " ###|#   #|#   #|#   #|# # #|#  #| ## #",      // Q
    "####|#   #|#   #|####|# #|#  #|#   #",         // R
    " ####|#|#| ###|    #|    #|####",              // S
    "#####|  #|  #|  #|  #|  #|  #",                // T
    "#   #|#   #|#   #|#   #|#   #|#   #| ###",     // U
    "#   #|#   #|#   #|#   #|#   #| # #|  #",       // V
    "#   #|#   #|#   #|# # #|# # #|# # #| # #",     // W
    "#   #|#   #| # #|  #| # #|#   #|#   #",        // X
    "#   #|#   #|#   #| # #|  #|  #|  #",           // Y
    "#####|    #|   #|  #| #|#|#####",              // Z
    " ###| #| #| #| #| #| ###",                     // [
    "#|#| #|  #|   #|    #|    #",                  // backslash
    " ###|   #|   #|   #|   #|   #| ###",           // ]
    "  #| # #|#   #",                               // ^
    "|||||||#####",                                 // _
    " #|  #",                                       // `
    "|| ###|    #| ####|#   #| ####",               // a
    "#|#|# ##|##  #|#   #|#   #|####",              // b
    "|| ###|#|#|#   #| ###",                        // c
    "    #|    #| ## #|#  ##|#   #|#   #| ####",    // d
    "|| ###|#   #|#####|#| ###",                    // e
    "  ##| #  #| #|###| #| #| #",                   // f
    "|| ####|#   #|#   #|#   #| ####|    #| ###",   // g
    "#|#|# ##|##  #|#   #|#   #|#   #",             // h
    "  #|| ##|  #|  #|  #| ###",                    // i
    "   #||  ##|   #|   #|   #|   #|#  #| ##",      // j
    "#|#|#  #|# #|##|# #|#  #",                     // k
    " ##|  #|  #|  #|  #|  #| ###",                 // l
    "||## #|# # #|# # #|# # #|# # #",               // m
    "||# ##|##  #|#   #|#   #|#   #",               // n
    "|| ###|#   #|#   #|#   #| ###",                // o
    "||# ##|##  #|#   #|#   #|####|#|#",            // p
    "|| ## #|#  ##|#   #|#   #| ####|    #|    #",  // q
    "||# ##|##  #|#|#|#",                           // r
    "|| ####|#| ###|    #|####",                    // s
    " #| #|###| #| #| #  #|  ##",                   // t
    "||#   #|#   #|#   #|#  ##| ## #",              // u
    "||#   #|#   #|#   #| # #|  #",                 // v
    "||#   #|#   #|# # #|# # #| # #",               // w
    "||#   #| # #|  #| # #|#   #",                  // x
    "||#   #|#   #|#   #|#   #| ####|    #| ###",   // y
    "||#####|   #|  #| #|#####",                    // z
    "   #|  #|  #| #|  #|  #|   #",                 // {
    "  #|  #|  #|  #|  #|  #|  #",                  // |
    " #|  #|  #|   #|  #|  #| #",                   // }
    "|| #|# # #|   #",                              // ~
};

constexpr std::string_view delta_bytes = "\u0394";
constexpr char delta = 1;  ///< stands for these bytes

std::string_view letter(char c) {
  if (c == ' ') return "";
  if (c == delta) return "  #|  #| # #| # #|#   #|#   #|#####";
  return letters[std::size_t((c > 32 && c < 127 ? c : '?') - 33)];
}

bool is_power(char c) { return c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'); }

/// Calls draw(x, y, scale, character) for each character, in pixels from the left end of the line; returns the width.
template <class Draw>
int lay_out(std::string_view text, int scale, const Draw& draw) {
  int x = 0;
  bool raised = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;  // the rest of a character in UTF-8
    if (text[i] == '^' && i + 1 < text.size() && is_power(text[i + 1])) {
      raised = true;
      continue;
    }
    raised = raised && is_power(text[i]);
    const int size = raised ? (scale + 1) / 2 : scale;
    const char c = text.substr(i).starts_with(delta_bytes) ? delta : text[i];
    draw(x, raised ? -letter_height * scale - 2 * size : -letter_height * scale, size, c);
    x += letter_step * size;
  }
  return x;
}

/// Points of a letter with ink, by row and column.
struct Glyph {
  std::array<std::array<bool, 5>, 9> ink{};
  explicit Glyph(char c) {
    std::size_t column = 0, row = 0;
    for (const char point : letter(c)) {
      if (point == '|') {
        column = 0, ++row;
      } else {
        ink[row][column++] = point == '#';
      }
    }
  }
  bool at(int column, int row) const {
    return column >= 0 && row >= 0 && column < 5 && row < 9 && ink[std::size_t(row)][std::size_t(column)];
  }

  /// Distance from a place, in points, to the lines between neighbouring points with ink. Diagonal lines are drawn
  /// where no corner joins their ends.
  double distance(double x, double y) const {
    double least = HUGE_VAL;
    for (int row = 0; row < 9; ++row) {
      for (int column = 0; column < 5; ++column) {
        if (!at(column, row)) continue;
        least = std::min(least, std::hypot(x - column, y - row));
        for (const auto& [dx, dy] : {std::pair(1, 0), {0, 1}, {1, 1}, {-1, 1}}) {
          if (!at(column + dx, row + dy)) continue;
          if (dx && dy && (at(column + dx, row) || at(column, row + dy))) continue;
          const double length = dx * dx + dy * dy;
          const double t = std::clamp(((x - column) * dx + (y - row) * dy) / length, 0., 1.);
          least = std::min(least, std::hypot(x - column - t * dx, y - row - t * dy));
        }
      }
    }
    return least;
  }
};

void blend(Raster& raster, int x, int y, Colour colour, double share) {
  if (x < 0 || y < 0 || x >= raster.width || y >= raster.height || share <= 0) return;
  Colour& under = raster.pixels[std::size_t(y) * std::size_t(raster.width) + std::size_t(x)];
  const auto mix = [share](std::uint8_t a, std::uint8_t b) {
    return std::uint8_t(std::lround(double(a) + share * (double(b) - double(a))));
  };
  under = {mix(under.red, colour.red), mix(under.green, colour.green), mix(under.blue, colour.blue)};
}

}  // namespace

int text_width(std::string_view text, int scale) {
  return lay_out(text, scale, [](int, int, int, char) {});
}

int draw_text(Raster& raster, int x, int y, std::string_view text, int scale, Colour colour, Direction direction) {
  return lay_out(text, scale, [&](int left, int top, int size, char c) {
    const Glyph glyph(c);
    const double thick = size == 1 ? 0.5 : 0.45;  // half of the width of a line, in points
    for (int j = -size; j < 10 * size; ++j) {
      for (int i = -size; i < 6 * size; ++i) {
        const double distance = glyph.distance((i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5);
        const double share = size == 1 ? double(distance < 0.1) : std::clamp((thick - distance) * size + 0.5, 0., 1.);
        const int right = left + i, down = top + j;
        if (direction == Direction::right) {
          blend(raster, x + right, y + down, colour, share);
        } else {
          blend(raster, x + down, y - right - 1, colour, share);
        }
      }
    }
  });
}

std::string raised_powers(std::string_view unit) {
  std::string out;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool letter =
        i > 0 && ((unit[i - 1] >= 'a' && unit[i - 1] <= 'z') || (unit[i - 1] >= 'A' && unit[i - 1] <= 'Z'));
    if (letter && is_power(unit[i])) out += '^';
    out += unit[i];
  }
  return out;
}

}  // namespace thor::io
