#pragma once

/// THOR_FN marks a kernel function: inlined into the step, callable on host and device.
#if defined(__CUDACC__)
#define THOR_FN __host__ __device__ __forceinline__
#define THOR_UNROLL _Pragma("unroll")
#else
#define THOR_FN inline __attribute__((always_inline))
#define THOR_UNROLL _Pragma("GCC unroll 16")
#endif

/// Kernel headers are compiled once per instruction set. Each copy lives in an inline namespace of its own, so that
/// the linker can never replace one copy's function by another's. Kernel translation units define THOR_ISA.
#ifndef THOR_ISA
#define THOR_ISA isa_host
#endif
