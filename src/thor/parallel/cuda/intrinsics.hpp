#pragma once
#include "thor/parallel/cuda/runtime.hpp"

/// A parameter of a kernel that stays where the launch has put it.
#define THOR_PARAMETER __grid_constant__

namespace thor {

template <class R>
struct Sphere;
template <class R>
struct UniformGrid;
template <class R>
struct WholeGrid;

namespace cuda {

using Wide = unsigned long long;  ///< 64 bits, as atomic operations have them

using Mask = unsigned;  ///< a bit for each thread of a warp
inline __device__ Mask ballot(Mask mask, bool value) { return __ballot_sync(mask, value); }
inline __device__ bool any(Mask mask, bool value) { return __any_sync(mask, value); }
inline __device__ int count(Mask mask) { return __popc(mask); }
inline __device__ void trap() { __trap(); }

/// Registers of a thread that only steps, in single and double precision.
template <class Dataset>
constexpr int registers[2] = {80, 168};
template <class Real>
constexpr int registers<Sphere<Real>>[2] = {80, 128};
template <class Real>
constexpr int registers<UniformGrid<Real>>[2] = {96, 168};
template <class Real>
constexpr int registers<WholeGrid<Real>>[2] = {96, 168};

}  // namespace cuda
}  // namespace thor
