#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "thor/io/array/input_source.hpp"

/// Conversion of stored numbers to those of the program. As in HDF5, a value outside the range of an integer type
/// becomes the nearest possible one, and fractions are truncated.
namespace thor::io::detail {

template <class T, class S>
T as(S value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<S>) {
    if (std::isnan(value)) return 0;
    // The upper limit rounds up to a power of two, which T cannot represent.
    if (value >= static_cast<S>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (value <= static_cast<S>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(value);
  } else {
    if (std::cmp_greater(value, std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (std::cmp_less(value, std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(value);
  }
}

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? std::nan("") : std::numeric_limits<double>::infinity())
                        : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                       : std::ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
  }
};

inline std::uint8_t swap_bytes(std::uint8_t v) { return v; }
inline std::uint16_t swap_bytes(std::uint16_t v) { return __builtin_bswap16(v); }
inline std::uint32_t swap_bytes(std::uint32_t v) { return __builtin_bswap32(v); }
inline std::uint64_t swap_bytes(std::uint64_t v) { return __builtin_bswap64(v); }

template <class S, class Bits, bool swapped, class T>
void convert_run(const std::byte* in, std::size_t count, T* out) {
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, in + i * sizeof bits, sizeof bits);
    if constexpr (swapped) bits = swap_bytes(bits);
    if constexpr (std::is_same_v<S, Half>) {
      out[i] = as<T>(static_cast<double>(Half{bits}));
    } else {
      out[i] = as<T>(std::bit_cast<S>(bits));
    }
  }
}

template <class S, class Bits, class T>
void convert_run(const std::byte* in, bool swapped, std::size_t count, T* out) {
  if constexpr (std::is_same_v<S, T>) {
    if (!swapped) {
      std::memcpy(out, in, count * sizeof(T));
      return;
    }
  }
  swapped ? convert_run<S, Bits, true>(in, count, out) : convert_run<S, Bits, false>(in, count, out);
}

template <class T>
void convert(const Number& number, const std::byte* in, std::size_t count, T* out) {
  const bool swapped = number.swapped;
  const bool plus = number.kind == Number::Kind::unsigned_integer;
  if (number.kind == Number::Kind::floating) {
    if (number.bytes == 2) return convert_run<Half, std::uint16_t>(in, swapped, count, out);
    if (number.bytes == 4) return convert_run<float, std::uint32_t>(in, swapped, count, out);
    return convert_run<double, std::uint64_t>(in, swapped, count, out);
  }
  switch (number.bytes) {
    case 1:
      return plus ? convert_run<std::uint8_t, std::uint8_t>(in, swapped, count, out)
                  : convert_run<std::int8_t, std::uint8_t>(in, swapped, count, out);
    case 2:
      return plus ? convert_run<std::uint16_t, std::uint16_t>(in, swapped, count, out)
                  : convert_run<std::int16_t, std::uint16_t>(in, swapped, count, out);
    case 4:
      return plus ? convert_run<std::uint32_t, std::uint32_t>(in, swapped, count, out)
                  : convert_run<std::int32_t, std::uint32_t>(in, swapped, count, out);
    default:
      return plus ? convert_run<std::uint64_t, std::uint64_t>(in, swapped, count, out)
                  : convert_run<std::int64_t, std::uint64_t>(in, swapped, count, out);
  }
}

/// Whether the stored bytes are already values of T.
template <class T>
bool is_stored_as(const Number& number) {
  using Kind = Number::Kind;
  const Kind kind = std::is_floating_point_v<T> ? Kind::floating
                    : std::is_signed_v<T>       ? Kind::signed_integer
                                                : Kind::unsigned_integer;
  return number.kind == kind && number.bytes == sizeof(T) && !number.swapped;
}

}  // namespace thor::io::detail
