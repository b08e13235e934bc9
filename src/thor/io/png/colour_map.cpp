#include "thor/io/png/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace thor::io {
namespace {

constexpr std::array<Colour, 33> nodes{
    {{0, 0, 4},      {4, 3, 18},     {11, 7, 36},     {21, 11, 55},    {33, 12, 74},   {46, 10, 90},   {60, 9, 101},
     {74, 12, 107},  {87, 16, 109},  {99, 20, 110},   {112, 25, 110},  {125, 30, 109}, {137, 34, 106}, {150, 39, 102},
     {163, 43, 97},  {175, 49, 92},  {187, 55, 85},   {198, 62, 77},   {209, 70, 68},  {219, 79, 59},  {227, 89, 50},
     {235, 101, 40}, {241, 113, 30}, {246, 127, 20},  {249, 141, 10},  {251, 156, 6},  {252, 171, 15}, {251, 186, 31},
     {249, 202, 50}, {245, 217, 73}, {242, 232, 101}, {243, 245, 134}, {252, 255, 164}}};

constexpr std::array<Colour, 11> diverging{{{5, 48, 97},
                                            {33, 102, 172},
                                            {67, 147, 195},
                                            {146, 197, 222},
                                            {209, 229, 240},
                                            {247, 247, 247},
                                            {253, 219, 199},
                                            {244, 165, 130},
                                            {214, 96, 77},
                                            {178, 24, 43},
                                            {103, 0, 31}}};

Colour between(std::span<const Colour> colours, double value) {
  const double place = std::clamp(value, 0., 1.) * double(colours.size() - 1);
  const auto i = std::min(std::size_t(place), colours.size() - 2);
  const auto mix = [t = place - double(i)](std::uint8_t a, std::uint8_t b) {
    return std::uint8_t(std::lround(double(a) + t * (double(b) - double(a))));
  };
  const Colour &a = colours[i], &b = colours[i + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

}  // namespace

Colour colour_of(double value) { return between(nodes, value); }
Colour diverging_colour_of(double value) { return between(diverging, value); }

}  // namespace thor::io
