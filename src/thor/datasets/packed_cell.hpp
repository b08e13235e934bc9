#pragma once
#include "thor/math/value.hpp"

/// Numbers of a cell in 16 bits each. Positive numbers are floating-point numbers of their own, without a sign: what is
/// below the range becomes its lower end, which counts as zero.
///
///   wide    7 bits of exponent, 9 of mantissa: 2^-70 = 8.5e-22 to 2.9e17, relative error < 2^-10 = 0.1 %
///   narrow  5 bits of exponent, 11 of mantissa: 2^-16 to 6.5e4, relative error < 2^-12 = 0.025 %
///   signed  integers, in units of 1/32767 of the largest; error < half a unit
namespace thor {
inline namespace THOR_ISA {

inline constexpr double largest_wide = 0x1.ff8p57;
THOR_FN float unpack_wide(std::uint32_t bits) { return from_bits((bits << 14) + (57u << 23)); }
THOR_FN float unpack_narrow(std::uint32_t bits) { return from_bits((bits << 12) + (111u << 23)); }
THOR_FN float unpack_signed(std::uint32_t bits) { return float(std::int32_t(bits << 16) >> 16); }

/// Rounded to nearest.
THOR_FN std::uint32_t pack_rounded(float value, std::uint32_t bias, int shift) {
  const std::uint32_t bits = to_bits(value), low = bias << 23, high = low + (0xffffu << shift);
  const std::uint32_t within = bits < low ? low : bits > high ? high : bits;
  const std::uint32_t rounded = (within - low + (1u << (shift - 1))) >> shift;
  return rounded > 0xffffu ? 0xffffu : rounded;
}
THOR_FN std::uint32_t pack_wide(float value) { return pack_rounded(value, 57, 14); }
THOR_FN std::uint32_t pack_narrow(float value) { return pack_rounded(value, 111, 12); }
/// `value` in units, |value| <= 32767.
THOR_FN std::uint32_t pack_signed(float value) {
  return std::uint32_t(std::int32_t(value < 0 ? value - 0.5f : value + 0.5f)) & 0xffffu;
}

}  // namespace THOR_ISA
}  // namespace thor
