#pragma once
#include "thor/core/target.hpp"

/// The only intrinsics of the project. On a CPU, fused multiply-add on machine registers: std::experimental::fma is
/// defined lane by lane, and the compiler does not always put the lanes together again. On a GPU, root and quotient, by
/// approximations of core/target.hpp.
#if defined(THOR_GPU_COMPILER)
#elif defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace thor {
inline namespace THOR_ISA {

#if defined(THOR_ON_GPU)
// Correctly rounded, as on a CPU, but without the branch that the compiler's own sequences have for numbers near the
// ends of the exponent range: an approximation, then corrections by the remainder (Markstein 1990, IBM J. Res. Dev. 34,
// 111).
THOR_FN float sqrt(float x) {
  const float y = approximate_inverse_root(x), g = x * y, h = 0.5f * y;
  return x > 0.f ? __builtin_fmaf(__builtin_fmaf(-g, g, x), h, g) : x;
}
THOR_FN float divide(float a, float b) {
  float y = approximate_inverse(b);
  y = __builtin_fmaf(__builtin_fmaf(-b, y, 1.f), y, y);
  const float q = a * y;
  return __builtin_fmaf(__builtin_fmaf(-b, q, a), y, q);
}
#elif defined(THOR_GPU_COMPILER)
#elif defined(__FMA__)
THOR_FN __m128 fused(__m128 a, __m128 b, __m128 c) { return _mm_fmadd_ps(a, b, c); }
THOR_FN __m128d fused(__m128d a, __m128d b, __m128d c) { return _mm_fmadd_pd(a, b, c); }
THOR_FN __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
THOR_FN __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#if defined(__AVX512F__)
THOR_FN __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
THOR_FN __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#endif
#elif defined(__aarch64__)
THOR_FN float32x4_t fused(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
THOR_FN float64x2_t fused(float64x2_t a, float64x2_t b, float64x2_t c) { return vfmaq_f64(c, a, b); }
#endif

/// A machine register, as a type of the compiler's own.
#if defined(THOR_GPU_COMPILER)
#elif defined(__x86_64__)
template <class T, int bytes>
struct Register {
  using type __attribute__((vector_size(bytes), may_alias)) = T;
};
#else
template <class T, int bytes>
struct Register {
  using type __attribute__((vector_size(bytes))) = T;
};
#endif

}  // namespace THOR_ISA
}  // namespace thor
