// Compiled once for each backend of GPUs, problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL): see
// ThorBackends.cmake.
#include THOR_DATASET_HEADER
#include "thor/parallel/device/rays.hpp"
#include "thor/parallel/gpu/kernel.hpp"
#include THOR_INTRINSICS_HEADER

namespace thor::THOR_BACKEND {
namespace {

using Wide = unsigned long long;  ///< 64 bits, as atomic operations have them

/// The device's atomic operations, as program.hpp asks for them.
struct Atomic {
  static __device__ __forceinline__ std::uint32_t add(std::uint32_t* p, std::uint32_t v) { return atomicAdd(p, v); }
  static __device__ __forceinline__ std::uint64_t add(std::uint64_t* p, std::uint64_t v) {
    return atomicAdd(reinterpret_cast<Wide*>(p), Wide(v));
  }
  static __device__ __forceinline__ std::uint64_t set_if_zero(std::uint64_t* p, std::uint64_t v) {
    return atomicCAS(reinterpret_cast<Wide*>(p), Wide(0), Wide(v));
  }
  static __device__ __forceinline__ void set(std::uint32_t* p, std::uint32_t bits) { atomicOr(p, bits); }
  static __device__ __forceinline__ void max(std::uint64_t* p, std::uint64_t v) {
    atomicMax(reinterpret_cast<Wide*>(p), Wide(v));
  }
  static __device__ __forceinline__ void min(std::uint64_t* p, std::uint64_t v) {
    atomicMin(reinterpret_cast<Wide*>(p), Wide(v));
  }
  static __device__ __forceinline__ void fault() { trap(); }
};

/// The threads of a warp or wave that have a lane.
struct Group {
  Mask mask;
  static constexpr bool has_lane() { return true; }
  __device__ __forceinline__ bool any(bool going) const { return THOR_BACKEND::any(mask, going); }
  /// Whether so many threads wait that half of those that go on are among them.
  __device__ __forceinline__ bool half(bool waits, bool going) const {
    const Mask waiting = ballot(mask, waits);
    return waiting != 0 && 2 * count(waiting) >= count(ballot(mask, going));
  }
};

template <class P, device::Slice slice>
constexpr int held() {
  return blocks_held<typename P::Dataset>(sizeof(typename P::Real) == 4, slice == device::Slice::steps);
}

/// All that a kernel is called with.
template <class P>
struct Call {
  P problem;
  device::Program<typename P::Real> program;
  device::LaunchShape shape;
};

template <class P, device::Slice slice>
__global__ void __launch_bounds__(block, (held<P, slice>())) advance_lanes(THOR_PARAMETER Call<P> call) {
  const auto& [problem, program, shape] = in_place(call);
  const std::uint32_t thread = blockIdx.x * block + threadIdx.x, group_size = std::uint32_t(shape.group);
  const std::uint32_t within = thread % group_size, index = thread / group_size * std::uint32_t(shape.width) + within;
  const bool has_lane = within < std::uint32_t(shape.width) && index < shape.lanes;
  const Group group{ballot(~Mask(0), has_lane)};
  if (!has_lane) return;
  if (device::advance_lane<Atomic, slice>(problem, program, index, int(blockIdx.x) % program.copies, group)) {
    program.next_live[atomicAdd(&program.report->live, 1u)] = program.live[index];
  }
}

template <class P>
__global__ void __launch_bounds__(block, (held<P, device::Slice::logs>())) start_rays(THOR_PARAMETER Call<P> call) {
  const auto& [problem, program, shape] = in_place(call);
  device::start_rays<Atomic>(problem, program, int(blockIdx.x) % program.copies, blockIdx.x * block + threadIdx.x,
                             gridDim.x * block);
}

template <class P>
__global__ void __launch_bounds__(block, (held<P, device::Slice::logs>())) trace_rays(THOR_PARAMETER Call<P> call) {
  const auto& [problem, program, shape] = in_place(call);
  device::trace_rays<Atomic>(problem, program, int(blockIdx.x) % program.copies, Group{~Mask(0)});
}

__global__ void flush_shares(THOR_PARAMETER device::Program<THOR_REAL> given) {
  const auto& program = in_place(given);
  const auto entries = device::entries_of<Atomic>(program, int(blockIdx.x) % program.copies);
  const std::uint64_t stride = std::uint64_t(gridDim.x) * block;
  for (std::uint64_t i = blockIdx.x * std::uint64_t(block) + threadIdx.x; i < entries.tables.slots; i += stride) {
    device::flush_slot(i, entries);
  }
}

/// The kernels of a slice. Each launch is asked for its error: that of a later one may take its place.
template <class P>
Status launch_slice(const Call<P>& call, Stream stream) {
  const auto& [problem, program, shape] = call;
  const auto width = std::uint32_t(shape.width), groups = (shape.lanes + width - 1) / width;
  const std::uint32_t blocks = (groups * std::uint32_t(shape.group) + block - 1) / block;
  using enum device::Slice;
  const device::Slice slice = device::slice_of(problem, program);
  if (slice == logs) {
    const auto tracing = std::uint32_t(shape.processors * held<P, logs>());
    Status status = success;
    if (shape.lanes > 0) {
      advance_lanes<P, logs><<<blocks, block, 0, stream>>>(call);
      if (status = take_error(); status != success) return status;
      start_rays<P><<<tracing, block, 0, stream>>>(call);
      if (status = take_error(); status != success) return status;
    }
    if (shape.lanes > 0 || program.keeps) {
      trace_rays<P><<<tracing, block, 0, stream>>>(call);
      if (status = take_error(); status != success) return status;
    }
    if (program.rays.shares.slots > 0) flush_shares<<<4 * tracing, block, 0, stream>>>(program);
    return take_error();
  }
  if constexpr (!device::may_be_part<P>) {
    if (slice == steps) {
      advance_lanes<P, steps><<<blocks, block, 0, stream>>>(call);
      return take_error();
    }
  }
  advance_lanes<P, refills><<<blocks, block, 0, stream>>>(call);
  return take_error();
}

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using WholeProblem = decltype(as_whole(std::declval<const ThisProblem&>()));

Status probe() {
  return find_kernel(reinterpret_cast<const void*>(advance_lanes<WholeProblem, device::Slice::refills>));
}

Status launch(const void* problem, const void* arguments, device::LaunchShape shape, Stream stream) {
  const auto& program = *static_cast<const device::Program<THOR_REAL>*>(arguments);
  const auto& given = *static_cast<const ThisProblem*>(problem);
  // What borders and other forms take is left out of the kernels that nearly all runs use.
  if (device::is_whole(given)) return launch_slice<WholeProblem>({as_whole(given), program, shape}, stream);
  return launch_slice<ThisProblem>({given, program, shape}, stream);
}

}  // namespace

std::span<const Kernel> THOR_ENTRY() {
  static const Kernel kernels[] = {
      {{device::Task::advance, int(ProblemKind::THOR_KIND), sizeof(THOR_REAL) == 4}, probe, launch}};
  return kernels;
}

}  // namespace thor::THOR_BACKEND
