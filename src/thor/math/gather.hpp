#pragma once
#include <utility>

#include "thor/math/value.hpp"

/// Numbers from memory, each lane's from its own place.
namespace thor {
inline namespace THOR_ISA {

template <class V>
struct LaneAddress {
  std::int64_t of[Value<V>::lanes];
};

// ---- one photon -----------------------------------------------------------------------------------------------------

/// block * size + offset in 64 bits, where size and offset are below 2^16; `block` may need all of 32 bits.
template <class V>
requires std::is_arithmetic_v<V> THOR_FN LaneAddress<V> lane_address(BitsOf<V> block, unsigned size, BitsOf<V> offset) {
  return {{std::int64_t(std::uint64_t(block) * size + offset)}};
}

/// f(address) of each lane.
template <class V, class F>
requires std::is_arithmetic_v<V> THOR_FN V gather(const LaneAddress<V>& address, F f) { return V(f(address.of[0])); }

/// The numbers of a record at each lane's address, numbers[k] with a constant k < 8.
template <class V>
struct Numbers {
  const float* memory;
  const LaneAddress<V>& address;
  THOR_FN V operator[](int k) const {
    return gather(address, [this, k](std::int64_t i) THOR_INLINE_LAMBDA { return memory[i + k]; });
  }
  /// One that is an integer of 32 bits.
  THOR_FN IntOf<V> integer(int k) const {
    using Real = RealOf<V>;
    const V bits = gather(address, [this, k](std::int64_t i) THOR_INLINE_LAMBDA {
      return __builtin_bit_cast(Real, IntOf<Real>(__builtin_bit_cast(std::int32_t, memory[i + k])));
    });
    return __builtin_bit_cast(IntOf<V>, to_bits(bits));
  }
};

// ---- a pack of photons ----------------------------------------------------------------------------------------------

#if !defined(THOR_GPU_COMPILER)

/// By halves: few instruction sets multiply 64 bits.
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN LaneAddress<V> lane_address(BitsOf<V> block, unsigned size,
                                                                       BitsOf<V> offset) {
  using Bits = BitsOf<V>;
  using Narrow __attribute__((vector_size(sizeof(Bits)))) = BitsOf<RealOf<V>>;
  using Wide __attribute__((vector_size(8 * Value<V>::lanes))) = std::uint64_t;
  const Bits low = (block & Bits(0xffffu)) * Bits(size) + offset, high = (block >> 16) * Bits(size);
  return __builtin_bit_cast(LaneAddress<V>, (__builtin_convertvector(__builtin_bit_cast(Narrow, high), Wide) << 16) +
                                                __builtin_convertvector(__builtin_bit_cast(Narrow, low), Wide));
}

template <class V, class F>
requires(!std::is_arithmetic_v<V>) THOR_FN V gather(const LaneAddress<V>& address, F f) {
  return V(typename V::Simd([&](auto l) THOR_INLINE_LAMBDA { return RealOf<V>(f(address.of[l])); }));
}

/// In each block of four numbers a_i, b_i, a_{i+1}, b_{i+1} with i = first, or in `pairs` a_i, a_{i+1}, b_i, b_{i+1}.
template <int first, bool pairs, class R, std::size_t... I>
THOR_FN R interleave(R a, R b, std::index_sequence<I...>) {
  constexpr std::size_t lanes = sizeof...(I);
  return __builtin_shufflevector(
      a, b, int(I / 4 * 4 + first + (pairs ? I % 2 : I % 4 / 2) + lanes * (pairs ? I % 4 / 2 : I % 2))...);
}
template <class R, class Half, std::size_t... I>
THOR_FN R join(Half a, Half b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, int(I)...);
}
/// Four numbers at address[0], four at address[4], and so on: one register.
template <int lanes>
THOR_FN auto load_fours(const float* memory, const std::int64_t* address) {
  using Row __attribute__((vector_size(4 * lanes))) = float;
  if constexpr (lanes == 4) {
    Row row;
    __builtin_memcpy(&row, memory + *address, sizeof(row));
    return row;
  } else {
    return join<Row>(load_fours<lanes / 2>(memory, address), load_fours<lanes / 2>(memory, address + lanes / 2),
                     std::make_index_sequence<lanes>());
  }
}

/// Four numbers of each lane are loaded at a time and transposed in registers, up to three beyond the record.
template <class T, class Abi>
requires(Value<Pack<T, Abi>>::lanes >= 4) struct Numbers<Pack<T, Abi>> {
  using V = Pack<T, Abi>;
  const float* memory;
  const LaneAddress<V>& address;

  THOR_FN V operator[](int k) const {
    using Reals __attribute__((vector_size(sizeof(V)))) = T;
    return __builtin_bit_cast(V, __builtin_convertvector(number(k), Reals));
  }
  THOR_FN IntOf<V> integer(int k) const {
    using Narrow __attribute__((vector_size(4 * Value<V>::lanes))) = std::int32_t;
    using Integers __attribute__((vector_size(sizeof(V)))) = IntOf<T>;
    return __builtin_bit_cast(IntOf<V>, __builtin_convertvector(__builtin_bit_cast(Narrow, number(k)), Integers));
  }

 private:
  THOR_FN auto number(int k) const {
    constexpr int lanes = Value<V>::lanes;
    const float* m = memory + (k - k % 4);
    const auto all = std::make_index_sequence<lanes>();
    const auto a = load_fours<lanes>(m, address.of), b = load_fours<lanes>(m, address.of + 1);
    const auto c = load_fours<lanes>(m, address.of + 2), d = load_fours<lanes>(m, address.of + 3);
    const auto ab = k % 4 < 2 ? interleave<0, false>(a, b, all) : interleave<2, false>(a, b, all);
    const auto cd = k % 4 < 2 ? interleave<0, false>(c, d, all) : interleave<2, false>(c, d, all);
    return k % 2 == 0 ? interleave<0, true>(ab, cd, all) : interleave<2, true>(ab, cd, all);
  }
};
#endif

}  // namespace THOR_ISA
}  // namespace thor
