#include "thor/io/png/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace thor::io {
namespace {

constexpr std::array<Colour, 33> nodes{
    {{0, 0, 4},      {4, 3, 18},     {11, 7, 36},     {21, 11, 55},    {33, 12, 74},   {46, 10, 90},   {60, 9, 101},
     {74, 12, 107},  {87, 16, 109},  {99, 20, 110},   {112, 25, 110},  {125, 30, 109}, {137, 34, 106}, {150, 39, 102},
     {163, 43, 97},  {175, 49, 92},  {187, 55, 85},   {198, 62, 77},   {209, 70, 68},  {219, 79, 59},  {227, 89, 50},
     {235, 101, 40}, {241, 113, 30}, {246, 127, 20},  {249, 141, 10},  {251, 156, 6},  {252, 171, 15}, {251, 186, 31},
     {249, 202, 50}, {245, 217, 73}, {242, 232, 101}, {243, 245, 134}, {252, 255, 164}}};

}  // namespace

Colour colour_of(double value) {
  const double place = std::clamp(value, 0., 1.) * double(nodes.size() - 1);
  const auto i = std::min(std::size_t(place), nodes.size() - 2);
  const auto between = [t = place - double(i)](std::uint8_t a, std::uint8_t b) {
    return std::uint8_t(std::lround(double(a) + t * (double(b) - double(a))));
  };
  const Colour &a = nodes[i], &b = nodes[i + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

}  // namespace thor::io
