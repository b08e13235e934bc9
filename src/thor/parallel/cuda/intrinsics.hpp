#pragma once
#include "thor/parallel/cuda/runtime.hpp"

/// A parameter of a kernel that stays where the launch has put it.
#define THOR_PARAMETER const __grid_constant__

namespace thor {

template <class R>
struct Sphere;
template <class R>
struct UniformGrid;
template <class R>
struct WholeGrid;
template <class R>
struct Octree;

namespace cuda {

/// The parameter of a kernel, where the launch has put it.
template <class A>
__device__ __forceinline__ const A& in_place(const A& parameter) {
  return parameter;
}

using Mask = unsigned;  ///< a bit for each thread of a warp
__device__ __forceinline__ Mask ballot(Mask mask, bool value) { return __ballot_sync(mask, value); }
__device__ __forceinline__ bool any(Mask mask, bool value) { return __any_sync(mask, value); }
__device__ __forceinline__ int count(Mask mask) { return __popc(mask); }
__device__ __forceinline__ void trap() { __trap(); }

/// Registers of a thread that only steps, in single and double precision.
template <class Dataset>
constexpr int registers[2] = {80, 168};
template <class Real>
constexpr int registers<Sphere<Real>>[2] = {80, 128};
template <class Real>
constexpr int registers<UniformGrid<Real>>[2] = {96, 168};
template <class Real>
constexpr int registers<WholeGrid<Real>>[2] = {96, 168};
template <class Real>
constexpr int registers<Octree<Real>>[2] = {96, 168};  // as those of grids: not measured

/// Blocks that a multiprocessor should hold at once; it bounds the registers of a thread. Where photons start and jump,
/// and on rays, threads often wait for memory, and more of them are worth more than registers.
template <class Dataset>
constexpr int blocks_held(bool single, bool only_steps) {
  return all_registers / block / (single && !only_steps ? 64 : registers<Dataset>[!single]);
}

}  // namespace cuda
}  // namespace thor
