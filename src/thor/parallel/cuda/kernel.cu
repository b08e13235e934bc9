// Compiled once for each problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL): see ThorCuda.cmake.
#include THOR_DATASET_HEADER
#include "thor/parallel/cuda/kernel.hpp"
#include "thor/parallel/device/rays.hpp"

namespace thor {
template <class R>
struct Sphere;
template <class R>
struct UniformGrid;
}  // namespace thor

namespace thor::cuda {
namespace {

/// The device's atomic operations, as program.hpp asks for them.
struct Atomic {
  using Wide = unsigned long long;
  static __device__ std::uint32_t add(std::uint32_t* p, std::uint32_t v) { return atomicAdd(p, v); }
  static __device__ std::uint64_t add(std::uint64_t* p, std::uint64_t v) {
    return atomicAdd(reinterpret_cast<Wide*>(p), Wide(v));
  }
  static __device__ std::uint64_t set_if_zero(std::uint64_t* p, std::uint64_t v) {
    return atomicCAS(reinterpret_cast<Wide*>(p), Wide(0), Wide(v));
  }
  static __device__ void set(std::uint32_t* p, std::uint32_t bits) { atomicOr(p, bits); }
  static __device__ void max(std::uint64_t* p, std::uint64_t v) { atomicMax(reinterpret_cast<Wide*>(p), Wide(v)); }
  static __device__ void min(std::uint64_t* p, std::uint64_t v) { atomicMin(reinterpret_cast<Wide*>(p), Wide(v)); }
  static __device__ void fault() { __trap(); }
};

/// The threads of a warp that have a lane.
struct Group {
  unsigned mask;
  __device__ bool any(bool going) const { return __any_sync(mask, going); }
  /// Whether so many threads wait that half of those that go on are among them.
  __device__ bool half(bool waits, bool going) const {
    const unsigned waiting = __ballot_sync(mask, waits);
    return waiting != 0 && 2 * __popc(waiting) >= __popc(__ballot_sync(mask, going));
  }
};

/// Registers of a thread that only steps, in single and double precision.
template <class Dataset>
constexpr int registers[2] = {80, 168};
template <class Real>
constexpr int registers<Sphere<Real>>[2] = {80, 128};
template <class Real>
constexpr int registers<UniformGrid<Real>>[2] = {96, 168};

/// Blocks that a multiprocessor should hold at once; it bounds the registers of a thread (65536/block/blocks). Where
/// photons start and jump, and on rays, threads often wait for memory, and more of them are worth more than registers.
template <class P, device::Slice slice>
constexpr int blocks_held() {
  using Real = typename P::Real;
  constexpr bool single = sizeof(Real) == 4;
  if (single && slice != device::Slice::steps) return 65536 / block / 64;
  return 65536 / block / registers<typename P::Dataset>[!single];
}

template <class P, device::Slice slice>
__global__ void __launch_bounds__(block, blocks_held<P, slice>())
    advance_lanes(const __grid_constant__ P problem, const __grid_constant__ device::Program<typename P::Real> program,
                  device::LaunchShape shape) {
  const std::uint32_t thread = blockIdx.x * block + threadIdx.x;
  const std::uint32_t within = thread % warp, index = thread / warp * std::uint32_t(shape.width) + within;
  const bool has_lane = within < std::uint32_t(shape.width) && index < shape.lanes;
  const Group group{__ballot_sync(~0u, has_lane)};
  if (!has_lane) return;
  if (device::advance_lane<Atomic, slice>(problem, program, index, int(blockIdx.x) % program.copies, group)) {
    program.next_live[atomicAdd(&program.report->live, 1u)] = program.live[index];
  }
}

template <class P>
__global__ void __launch_bounds__(block, blocks_held<P, device::Slice::logs>())
    start_rays(const __grid_constant__ P problem, const __grid_constant__ device::Program<typename P::Real> program) {
  device::start_rays<Atomic>(problem, program, int(blockIdx.x) % program.copies, blockIdx.x * block + threadIdx.x,
                             gridDim.x * block);
}

template <class P>
__global__ void __launch_bounds__(block, blocks_held<P, device::Slice::logs>())
    trace_rays(const __grid_constant__ P problem, const __grid_constant__ device::Program<typename P::Real> program) {
  device::trace_rays<Atomic>(problem, program, int(blockIdx.x) % program.copies, Group{~0u});
}

__global__ void flush_shares(const __grid_constant__ device::Program<THOR_REAL> program) {
  const auto cells = device::cells_of<Atomic>(program, int(blockIdx.x) % program.copies);
  const std::uint64_t stride = std::uint64_t(gridDim.x) * block;
  for (std::uint64_t i = blockIdx.x * std::uint64_t(block) + threadIdx.x; i < cells.tables.slots; i += stride) {
    device::flush_slot(i, cells);
  }
}

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;

cudaError_t probe() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes,
                               reinterpret_cast<const void*>(advance_lanes<ThisProblem, device::Slice::refills>));
}

cudaError_t launch(const void* problem, const void* arguments, device::LaunchShape shape, cudaStream_t stream) {
  const auto& program = *static_cast<const device::Program<THOR_REAL>*>(arguments);
  const std::uint32_t warps = (shape.lanes + std::uint32_t(shape.width) - 1) / std::uint32_t(shape.width);
  const std::uint32_t blocks = (warps * warp + block - 1) / block;
  const auto& p = *static_cast<const ThisProblem*>(problem);
  using enum device::Slice;
  if (program.rays.room > 0) {
    const auto tracing = std::uint32_t(shape.processors * blocks_held<ThisProblem, logs>());
    if (shape.lanes > 0) {
      advance_lanes<ThisProblem, logs><<<blocks, block, 0, stream>>>(p, program, shape);
      start_rays<ThisProblem><<<tracing, block, 0, stream>>>(p, program);
      trace_rays<ThisProblem><<<tracing, block, 0, stream>>>(p, program);
    }
    if (program.rays.shares.slots > 0) flush_shares<<<4 * tracing, block, 0, stream>>>(program);
  } else if (program.last && p.jumps.depth_count == 0) {
    advance_lanes<ThisProblem, steps><<<blocks, block, 0, stream>>>(p, program, shape);
  } else {
    advance_lanes<ThisProblem, refills><<<blocks, block, 0, stream>>>(p, program, shape);
  }
  return cudaGetLastError();
}

}  // namespace

extern const Kernel THOR_ENTRY[1];
const Kernel THOR_ENTRY[1] = {
    {{device::Task::advance, int(ProblemKind::THOR_KIND), sizeof(THOR_REAL) == 4}, probe, launch}};

}  // namespace thor::cuda
