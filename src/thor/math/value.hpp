#pragma once
#include <cstdint>
#include <type_traits>

#include "thor/core/target.hpp"
#include "thor/math/fused.hpp"
#if !defined(THOR_GPU_COMPILER)
#include <experimental/simd>
#endif

/// The value-type layer. Kernel code is written once on a type V that holds one photon (float, double) or a pack of
/// photons (Pack of float or double); comparisons give masks, select(mask, a, b) chooses.
///
///   Real   float or double            Int   signed integer of the same width (phases, cells, counters)
///   Word   32-bit random word         Bits  unsigned integer of the same width (exponent and sign manipulation)
namespace thor {
inline namespace THOR_ISA {

template <class V>
struct Value;

template <>
struct Value<float> {
  using Real = float;
  using Int = std::int32_t;
  using Bits = std::uint32_t;
  using Word = std::uint32_t;
  using SignedWord = std::int32_t;
  using Mask = bool;
  static constexpr int lanes = 1;
};

template <>
struct Value<double> {
  using Real = double;
  using Int = std::int64_t;
  using Bits = std::uint64_t;
  using Word = std::uint32_t;
  using SignedWord = std::int32_t;
  using Mask = bool;
  static constexpr int lanes = 1;
};

template <class V>
using RealOf = typename Value<V>::Real;
template <class V>
using IntOf = typename Value<V>::Int;
template <class V>
using BitsOf = typename Value<V>::Bits;
template <class V>
using WordOf = typename Value<V>::Word;
template <class V>
using MaskOf = typename Value<V>::Mask;

// ---- one photon -----------------------------------------------------------------------------------------------------

template <class T>
requires std::is_arithmetic_v<T> THOR_FN T select(bool m, T a, T b) { return m ? a : b; }
THOR_FN bool any(bool m) { return m; }
THOR_FN int count(bool m) { return m ? 1 : 0; }
#if !defined(THOR_ON_GPU)  // for a device they are in fused.hpp
THOR_FN float sqrt(float x) { return __builtin_sqrtf(x); }
/// a / b where a step divides: the exponents of a, b and a/b are far from the ends of their range.
THOR_FN float divide(float a, float b) { return a / b; }
#endif
THOR_FN double sqrt(double x) { return __builtin_sqrt(x); }
THOR_FN double divide(double a, double b) { return a / b; }
THOR_FN float abs(float x) { return __builtin_fabsf(x); }
THOR_FN double abs(double x) { return __builtin_fabs(x); }
template <class T>
requires std::is_floating_point_v<T> THOR_FN T min(T a, T b) { return a < b ? a : b; }
template <class T>
requires std::is_floating_point_v<T> THOR_FN T max(T a, T b) { return a > b ? a : b; }

/// a*b + c, in one rounding where the instruction set has it, in two where it has not (never through libm).
#if defined(__FMA__) || defined(__aarch64__) || defined(THOR_ON_GPU)
#define THOR_HAS_FMA 1
THOR_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
THOR_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
THOR_FN float fma(float a, float b, float c) { return a * b + c; }
THOR_FN double fma(double a, double b, double c) { return a * b + c; }
#endif

THOR_FN std::uint32_t to_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
THOR_FN std::uint64_t to_bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
THOR_FN float from_bits(std::uint32_t b) { return __builtin_bit_cast(float, b); }
THOR_FN double from_bits(std::uint64_t b) { return __builtin_bit_cast(double, b); }

template <class V, class I>
requires std::is_arithmetic_v<V> THOR_FN bool equal(I a, int b) { return a == b; }
template <class V, class I>
requires std::is_arithmetic_v<V> THOR_FN bool at_least(I a, int b) { return a >= b; }
template <class V>
requires std::is_arithmetic_v<V> THOR_FN bool bit_set(std::uint32_t word, std::uint32_t bit) {
  return (word & bit) != 0;
}
/// The upper bits of a random word as a real number: word >> shift, exactly.
template <class V>
requires std::is_arithmetic_v<V> THOR_FN V word_to_real(std::uint32_t word, int shift) {
  return static_cast<V>(static_cast<std::int32_t>(word >> shift));
}
/// A random word in the low half of a value's bits.
template <class V>
requires std::is_arithmetic_v<V> THOR_FN BitsOf<V> word_to_bits(std::uint32_t word) { return word; }
template <class V>
requires std::is_arithmetic_v<V> THOR_FN V int_to_real(IntOf<V> i) { return static_cast<V>(i); }
/// The largest integer that is not above x, of an x that has room in an integer.
template <class V>
requires std::is_arithmetic_v<V> THOR_FN IntOf<V> floor_to_int(V x) {
  const auto i = static_cast<IntOf<V>>(x);
  return i - (static_cast<V>(i) > x ? 1 : 0);
}
template <class T>
requires std::is_arithmetic_v<T> THOR_FN T load(const T* p) { return *p; }
template <class T>
requires std::is_arithmetic_v<T> THOR_FN void store(T v, T* p) { *p = v; }

// ---- a pack of photons ----------------------------------------------------------------------------------------------

#if !defined(THOR_GPU_COMPILER)
namespace stdx = std::experimental;

/// A simd register of our own, so that argument-dependent lookup never finds the per-lane libm functions that
/// std::experimental overloads for its simd type.
template <class T, class Abi>
struct Pack {
  using Simd = stdx::simd<T, Abi>;
  using Mask = typename Simd::mask_type;
  Simd v;

  Pack() = default;
  THOR_FN explicit Pack(T x) : v(x) {}
  THOR_FN explicit Pack(Simd x) : v(x) {}

  THOR_FN friend Pack operator-(Pack a) { return Pack(-a.v); }
  THOR_FN friend Pack operator~(Pack a) { return Pack(~a.v); }
  THOR_FN friend Pack operator<<(Pack a, int k) { return Pack(a.v << k); }
  THOR_FN friend Pack operator>>(Pack a, int k) { return Pack(a.v >> k); }
#define THOR_PACK_OPERATOR(op) \
  THOR_FN friend Pack operator op(Pack a, Pack b) { return Pack(a.v op b.v); }
  THOR_PACK_OPERATOR(+)
  THOR_PACK_OPERATOR(-)
  THOR_PACK_OPERATOR(*)
  THOR_PACK_OPERATOR(/)
  THOR_PACK_OPERATOR(&)
  THOR_PACK_OPERATOR(|)
  THOR_PACK_OPERATOR(^)
#undef THOR_PACK_OPERATOR
#define THOR_PACK_COMPARISON(op) \
  THOR_FN friend Mask operator op(Pack a, Pack b) { return a.v op b.v; }
  THOR_PACK_COMPARISON(<)
  THOR_PACK_COMPARISON(<=)
  THOR_PACK_COMPARISON(>)
  THOR_PACK_COMPARISON(>=)
  THOR_PACK_COMPARISON(==)
  THOR_PACK_COMPARISON(!=)
#undef THOR_PACK_COMPARISON
  THOR_FN Pack& operator+=(Pack b) { return v += b.v, *this; }
  THOR_FN Pack& operator^=(Pack b) { return v ^= b.v, *this; }
};

/// The widest pack of the instruction set that this translation unit is compiled for.
template <class Real>
using NativePack = Pack<Real, stdx::simd_abi::native<Real>>;

template <class T, class From, class Abi>
using Rebind = Pack<T, typename stdx::rebind_simd_t<T, stdx::simd<From, Abi>>::abi_type>;

template <class Abi>
struct Value<Pack<float, Abi>> {
  using Real = float;
  using Int = Rebind<std::int32_t, float, Abi>;
  using Bits = Rebind<std::uint32_t, float, Abi>;
  using Word = Bits;
  using SignedWord = Int;
  using Mask = typename Pack<float, Abi>::Mask;
  static constexpr int lanes = static_cast<int>(Mask::size());
};

template <class Abi>
struct Value<Pack<double, Abi>> {
  using Real = double;
  using Int = Rebind<std::int64_t, double, Abi>;
  using Bits = Rebind<std::uint64_t, double, Abi>;
  using Word = Rebind<std::uint32_t, double, Abi>;
  using SignedWord = Rebind<std::int32_t, double, Abi>;
  using Mask = typename Pack<double, Abi>::Mask;
  static constexpr int lanes = static_cast<int>(Mask::size());
};

template <class To, class T, class Abi>
THOR_FN To mask_cast(stdx::simd_mask<T, Abi> m) {
  return stdx::__proposed::static_simd_cast<To>(m);
}

// Not stdx::where, which calls a lambda for every lane to ask whether its mask is a constant: that takes as long to
// compile as the rest of a kernel. The same change to Pack(T) makes a static sphere 4 % slower (docs/notes/kernels.md).
template <class M, class T, class Abi>
THOR_FN Pack<T, Abi> select(M m, Pack<T, Abi> a, Pack<T, Abi> b) {
  const auto mask = mask_cast<typename Pack<T, Abi>::Mask>(m);
  using Machine = typename Register<T, sizeof(a)>::type;
  const auto x = __builtin_bit_cast(Machine, a), y = __builtin_bit_cast(Machine, b);
#if defined(__AVX512F__)
  using Bits = std::conditional_t<sizeof(mask) == 1, std::uint8_t, std::uint16_t>;
  return __builtin_bit_cast(Pack<T, Abi>, stdx::_CommonImplX86::_S_blend_avx512(__builtin_bit_cast(Bits, mask), y, x));
#else
  using Lanes = typename Register<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, sizeof(a)>::type;
  return __builtin_bit_cast(Pack<T, Abi>, __builtin_bit_cast(Lanes, mask) < 0 ? x : y);
#endif
}
template <class T, class Abi>
THOR_FN bool any(stdx::simd_mask<T, Abi> m) {
  return stdx::any_of(m);
}
template <class T, class Abi>
THOR_FN int count(stdx::simd_mask<T, Abi> m) {
  return stdx::popcount(m);
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> sqrt(Pack<T, Abi> x) {
  return Pack<T, Abi>(stdx::sqrt(x.v));
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> divide(Pack<T, Abi> a, Pack<T, Abi> b) {
  return a / b;
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> abs(Pack<T, Abi> x) {
  return Pack<T, Abi>(stdx::abs(x.v));
}
// Not stdx::min and max, which differ from one lane for zeros and NaN.
template <class T, class Abi>
THOR_FN Pack<T, Abi> min(Pack<T, Abi> a, Pack<T, Abi> b) {
  return select(a < b, a, b);
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> max(Pack<T, Abi> a, Pack<T, Abi> b) {
  return select(a > b, a, b);
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> fma(Pack<T, Abi> a, Pack<T, Abi> b, Pack<T, Abi> c) {
#ifdef THOR_HAS_FMA
  using Machine = typename Register<T, sizeof(a)>::type;
  const auto r = fused(__builtin_bit_cast(Machine, a), __builtin_bit_cast(Machine, b), __builtin_bit_cast(Machine, c));
  return __builtin_bit_cast(Pack<T, Abi>, r);
#else
  return a * b + c;
#endif
}

template <class T, class Abi>
THOR_FN BitsOf<Pack<T, Abi>> to_bits(Pack<T, Abi> x) {
  return __builtin_bit_cast(BitsOf<Pack<T, Abi>>, x);
}
template <class Abi>
THOR_FN auto from_bits(Pack<std::uint32_t, Abi> b) {
  return __builtin_bit_cast(Rebind<float, std::uint32_t, Abi>, b);
}
template <class Abi>
THOR_FN auto from_bits(Pack<std::uint64_t, Abi> b) {
  return __builtin_bit_cast(Rebind<double, std::uint64_t, Abi>, b);
}

template <class V, class T, class Abi>
THOR_FN MaskOf<V> equal(Pack<T, Abi> a, int b) {
  return mask_cast<MaskOf<V>>(a == Pack<T, Abi>(static_cast<T>(b)));
}
template <class V, class T, class Abi>
THOR_FN MaskOf<V> at_least(Pack<T, Abi> a, int b) {
  return mask_cast<MaskOf<V>>(a >= Pack<T, Abi>(static_cast<T>(b)));
}
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN MaskOf<V> bit_set(WordOf<V> word, std::uint32_t bit) {
  return mask_cast<MaskOf<V>>((word & WordOf<V>(bit)) != WordOf<V>(0u));
}
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN V word_to_real(WordOf<V> word, int shift) {
  using SignedWord = typename Value<V>::SignedWord;
  const auto integer = stdx::static_simd_cast<typename SignedWord::Simd>(word.v >> shift);
  return V(stdx::static_simd_cast<typename V::Simd>(integer));
}
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN BitsOf<V> word_to_bits(WordOf<V> word) {
  return BitsOf<V>(stdx::static_simd_cast<typename BitsOf<V>::Simd>(word.v));
}
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN V int_to_real(IntOf<V> i) {
  return V(stdx::static_simd_cast<typename V::Simd>(i.v));
}
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN IntOf<V> floor_to_int(V x) {
  using Int = IntOf<V>;
  const Int i(stdx::static_simd_cast<typename Int::Simd>(x.v));
  return i - select(int_to_real<V>(i) > x, Int(1), Int(0));
}
template <class P>
requires(!std::is_arithmetic_v<P>) THOR_FN P load(const typename P::Simd::value_type* p) {
  return P(typename P::Simd(p, stdx::element_aligned));
}
template <class T, class Abi>
THOR_FN void store(Pack<T, Abi> x, T* p) {
  x.v.copy_to(p, stdx::element_aligned);
}
#endif

// ---- both -----------------------------------------------------------------------------------------------------------

/// The magnitude of `magnitude` with the sign of `sign`.
template <class V>
THOR_FN V copysign(V magnitude, V sign) {
  using Bits = BitsOf<V>;
  const Bits top = to_bits(V(-RealOf<V>(0)));
  return from_bits(static_cast<Bits>((to_bits(magnitude) & ~top) | (to_bits(sign) & top)));
}

}  // namespace THOR_ISA
}  // namespace thor
