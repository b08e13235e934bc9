#pragma once
#include <hip/hip_runtime.h>

#include <cstdint>

#include "thor/parallel/hip/runtime.hpp"

#define THOR_PARAMETER

namespace thor::hip {

/// The parameter of a kernel, where the launch has put it: the only one, so that it begins the segment. The compiler
/// would copy all of it to the scratch memory of each thread, as functions are called with its address.
template <class A>
__device__ __forceinline__ const A& in_place(const A&) {
  return *(const A*)__builtin_amdgcn_kernarg_segment_ptr();
}

using Mask = std::uint64_t;  ///< a bit for each thread of a wave, of which there are 32 or 64
__device__ __forceinline__ Mask ballot(Mask mask, bool value) { return mask & __ballot(value); }
__device__ __forceinline__ bool any(Mask mask, bool value) { return ballot(mask, value) != 0; }
__device__ __forceinline__ int count(Mask mask) { return __popcll(mask); }
__device__ __forceinline__ void trap() { __builtin_trap(); }

/// Waves that a scheduler should hold at least, and so blocks of a compute unit; it bounds the registers of a thread.
/// Two leave 256 for each on CDNA, which has 512 for all; what does not fit goes to scratch memory.
template <class Dataset>
constexpr int blocks_held(bool, bool) {
  return 1;
}

}  // namespace thor::hip
