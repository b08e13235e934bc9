#include "thor/io/png/font.hpp"

#include <array>
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

std::string_view letter(char c) {
  if (c == ' ') return "";
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
    draw(x, raised ? -letter_height * scale - 2 * size : -letter_height * scale, size, text[i]);
    x += letter_step * size;
  }
  return x;
}

}  // namespace

int text_width(std::string_view text, int scale) {
  return lay_out(text, scale, [](int, int, int, char) {});
}

int draw_text(Raster& raster, int x, int y, std::string_view text, int scale, Colour colour, Direction direction) {
  return lay_out(text, scale, [&](int left, int top, int size, char c) {
    int column = 0, row = 0;
    for (const char point : letter(c)) {
      if (point == '|') {
        column = 0, ++row;
        continue;
      }
      const int right = left + column * size, down = top + row * size;
      if (point == '#' && direction == Direction::right) raster.fill(x + right, y + down, size, size, colour);
      if (point == '#' && direction == Direction::up) raster.fill(x + down, y - right - size, size, size, colour);
      ++column;
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
