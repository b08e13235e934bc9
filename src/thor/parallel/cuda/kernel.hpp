#pragma once
#include <cuda_runtime_api.h>

#include <span>

#include "thor/operators/absorption.hpp"
#include "thor/operators/image.hpp"
#include "thor/parallel/device/shape.hpp"
#include "thor/transport/problem_kind.hpp"

namespace thor::device {
template <class Real>
struct Program;
struct Sightlines;
}  // namespace thor::device

namespace thor::cuda {

inline constexpr int block = 128;  ///< threads: one warp for each of a multiprocessor's four schedulers

/// The kernel of a problem: each object exports one.
template <class Real>
struct Kernel {
  ProblemKind kind;
  cudaError_t (*probe)();  ///< whether this build has it for the current device
  /// Queues one slice.
  cudaError_t (*launch)(const void* problem, const device::Program<Real>& program, device::LaunchShape shape,
                        cudaStream_t stream);
};

/// The kernels of the raytracing driver for a dataset.
template <class Real>
struct TraceKernel {
  DatasetKind kind;
  cudaError_t (*image)(const void* scene, const ImageJob& job, const ImageTile& tile, int planes, Real* out,
                       cudaStream_t stream);
  cudaError_t (*absorb)(const void* scene, const device::Sightlines& sightlines, const Absorption& absorption,
                        Real* tau, double* columns, cudaStream_t stream);
};

/// The kernels of this build.
template <class Real>
std::span<const Kernel<Real>* const> kernels();
template <class Real>
std::span<const TraceKernel<Real>* const> trace_kernels();

}  // namespace thor::cuda
