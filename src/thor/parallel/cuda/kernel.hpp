#pragma once
#include <cuda_runtime_api.h>

#include "thor/parallel/device/device.hpp"

namespace thor::cuda {

inline constexpr int block = 128;  ///< threads: one warp for each of a multiprocessor's four schedulers

/// Whether this build has the kernel for the current device.
template <class P>
cudaError_t probe();

/// Queues one slice.
template <class P>
cudaError_t launch(const device::Program<P>& program, device::Shape shape, cudaStream_t stream);

}  // namespace thor::cuda
