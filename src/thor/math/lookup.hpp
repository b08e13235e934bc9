#pragma once
#include "thor/math/value.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/// Numbers of one array, each lane's by its own index.
namespace thor {
inline namespace THOR_ISA {

template <class V>
requires std::is_arithmetic_v<V> THOR_FN V lookup(const float* memory, IntOf<V> index) { return V(memory[index]); }

#if !defined(THOR_GPU_COMPILER)
template <class V>
requires(!std::is_arithmetic_v<V>) THOR_FN V lookup(const float* memory, IntOf<V> index) {
  [[maybe_unused]] constexpr int lanes = Value<V>::lanes;
#if defined(__AVX512F__)
  if constexpr (lanes == 16) {
    return __builtin_bit_cast(V, _mm512_i32gather_ps(__builtin_bit_cast(__m512i, index), memory, 4));
  } else if constexpr (lanes == 8 && sizeof(RealOf<V>) == 8) {
    return __builtin_bit_cast(V, _mm512_cvtps_pd(_mm512_i64gather_ps(__builtin_bit_cast(__m512i, index), memory, 4)));
  }
#elif defined(__AVX2__)
  if constexpr (lanes == 8) {
    return __builtin_bit_cast(V, _mm256_i32gather_ps(memory, __builtin_bit_cast(__m256i, index), 4));
  } else if constexpr (lanes == 4 && sizeof(RealOf<V>) == 8) {
    return __builtin_bit_cast(V, _mm256_cvtps_pd(_mm256_i64gather_ps(memory, __builtin_bit_cast(__m256i, index), 4)));
  }
#endif
  return V(typename V::Simd([&](auto l) THOR_INLINE_LAMBDA { return RealOf<V>(memory[index.v[l]]); }));
}
#endif

}  // namespace THOR_ISA
}  // namespace thor
