#pragma once

/// What this is compiled by and for. No other header asks.
///
///   THOR_GPU_COMPILER  a compiler for GPUs, which has a pass for the host and one for the device
///   THOR_ON_GPU        the pass for the device; that of SYCL may be for both
#if defined(__CUDACC__) || defined(__HIP__) || defined(SYCL_LANGUAGE_VERSION)
#define THOR_GPU_COMPILER 1
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(SYCL_LANGUAGE_VERSION)
#define THOR_ON_GPU 1
#endif

/// THOR_FN marks a kernel function: inlined into the step, callable on host and device. THOR_NOINLINE marks one that is
/// called instead, where it is large and speed is not the point. THOR_INLINE_LAMBDA follows the parameters of a lambda
/// inside a kernel function.
#if defined(SYCL_LANGUAGE_VERSION)
#define THOR_FN inline __attribute__((always_inline))
#define THOR_NOINLINE __attribute__((noinline))
#define THOR_INLINE_LAMBDA
#elif defined(THOR_GPU_COMPILER)
#define THOR_FN __host__ __device__ inline __attribute__((always_inline))
#if defined(__HIP__)  // a call keeps half of the registers in memory: 392 bytes for each thread, in place of none
#define THOR_NOINLINE THOR_FN
#else
#define THOR_NOINLINE __host__ __device__ __attribute__((noinline))
#endif
#define THOR_INLINE_LAMBDA
#else
#define THOR_FN inline __attribute__((always_inline))
#define THOR_NOINLINE __attribute__((noinline))
#define THOR_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// Precedes a function of the host that has most of its work in vectors of four numbers: with all that is inlined into
/// it, it stands there twice, for processors with AVX2 and for others; the loader takes one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(THOR_GPU_COMPILER) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define THOR_ALSO_AVX2 __attribute__((target_clones("avx2", "default"), flatten))
#else
#define THOR_ALSO_AVX2
#endif

/// Precedes a loop over a fixed number of terms.
#if defined(THOR_ON_GPU)
#define THOR_UNROLL _Pragma("unroll")
#elif defined(THOR_GPU_COMPILER)
#define THOR_UNROLL
#else
#define THOR_UNROLL _Pragma("GCC unroll 16")
#endif

/// Kernel headers are compiled once per instruction set. Each copy is in its own inline namespace, so that the linker
/// can never replace one copy's function by another's. Kernel translation units define THOR_ISA.
#ifndef THOR_ISA
#define THOR_ISA isa_host
#endif

#if defined(THOR_ON_GPU)
#if defined(SYCL_LANGUAGE_VERSION)
#include <sycl/sycl.hpp>
#endif

namespace thor {
inline namespace THOR_ISA {

/// The device's own approximations to 1/x and to 1 over the root of x, good to two units in the last place.
#if defined(SYCL_LANGUAGE_VERSION)
THOR_FN float approximate_inverse(float x) { return ::sycl::native::divide(1.f, x); }
THOR_FN float approximate_inverse_root(float x) { return ::sycl::native::rsqrt(x); }
#elif defined(__HIP__)
THOR_FN float approximate_inverse(float x) { return __builtin_amdgcn_rcpf(x); }
THOR_FN float approximate_inverse_root(float x) { return __builtin_amdgcn_rsqf(x); }
#else
THOR_FN float approximate_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
THOR_FN float approximate_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

}  // namespace THOR_ISA
}  // namespace thor
#endif
