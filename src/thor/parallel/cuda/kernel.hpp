#pragma once
#include <cuda_runtime_api.h>

#include <span>

#include "thor/parallel/device/shape.hpp"
#include "thor/transport/problem_kind.hpp"

namespace thor::cuda {

inline constexpr int warp = 32;
inline constexpr int schedulers = 4;             ///< of a multiprocessor
inline constexpr int block = warp * schedulers;  ///< threads

/// A kernel for a task; each object exports some.
struct Kernel {
  device::Task task;
  cudaError_t (*probe)();  ///< whether this build has it for the current device
  cudaError_t (*launch)(const void* subject, const void* arguments, device::LaunchShape shape, cudaStream_t stream);
};

/// The kernels of this build, an object's at a time.
std::span<const std::span<const Kernel>> kernels();

}  // namespace thor::cuda
