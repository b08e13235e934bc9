// Compiled once for each problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL): see ThorBackends.cmake.
#include "thor/parallel/sycl/runtime.hpp"
//
#include THOR_DATASET_HEADER
#include "thor/core/error.hpp"
#include "thor/parallel/device/rays.hpp"
#include "thor/parallel/gpu/kernel.hpp"

namespace thor::sycl {
namespace {

/// The device's atomic operations, as program.hpp asks for them.
struct Atomic {
  template <class T>
  static auto at(T* p) {
    return ::sycl::atomic_ref<T, ::sycl::memory_order::relaxed, ::sycl::memory_scope::device,
                              ::sycl::access::address_space::global_space>(*p);
  }
  template <class T>
  static T add(T* p, T v) {
    return at(p).fetch_add(v);
  }
  static std::uint64_t set_if_zero(std::uint64_t* p, std::uint64_t v) {
    std::uint64_t before = 0;
    at(p).compare_exchange_strong(before, v);
    return before;
  }
  static void set(std::uint32_t* p, std::uint32_t bits) { at(p).fetch_or(bits); }
  static void max(std::uint64_t* p, std::uint64_t v) { at(p).fetch_max(v); }
  static void min(std::uint64_t* p, std::uint64_t v) { at(p).fetch_min(v); }
  static void fault() { __builtin_trap(); }
};

/// The work-items of a sub-group, of which some may have no lane.
struct Group {
  ::sycl::sub_group items;
  bool has;
  bool has_lane() const { return has; }
  bool any(bool going) const { return ::sycl::any_of_group(items, going); }
  /// SYCL has no votes that count: both numbers in one sum, which takes longer than a vote.
  bool half(bool waits, bool going) const {
    if (!::sycl::any_of_group(items, waits)) return false;
    const std::uint32_t both = ::sycl::reduce_over_group(items, std::uint32_t(waits) << 16 | std::uint32_t(going),
                                                         ::sycl::plus<std::uint32_t>());
    return 2 * (both >> 16) >= (both & 0xffff);
  }
};

/// All that a kernel is called with.
template <class P>
struct Call {
  P problem;
  device::Program<typename P::Real> program;
  device::LaunchShape shape;
};

using Item = ::sycl::nd_item<1>;

/// Work-items of a group: whole sub-groups, of any width. The larger, the fewer registers a compiler gives to each,
/// which SYCL has no other way to ask for.
std::size_t block_of(Stream queue) {
  const auto most = queue->get_device().get_info<::sycl::info::device::max_work_group_size>();
  return std::min<std::size_t>(most, sizeof(THOR_REAL) == 8 ? 384 : 512);
}

/// Of a unit of the device, on rays: they wait for memory, so that many are worth their registers.
constexpr std::size_t most_items = 1024;

/// The part of the tally that a work-item counts in: neighbours share one.
int copy_for(Item item, int copies) { return int(item.get_global_linear_id() / 128 % std::size_t(copies)); }

template <device::Slice slice, class P>
void advance_lanes(const Call<P>& call, Stream queue) {
  if (sizeof(call) > queue->get_device().get_info<::sycl::info::device::max_parameter_size>()) {
    throw Error(ExitCode::device,
                "the problem is larger than the parameters that kernels of this device may have: "
                "use --device cpu, or --precision single");
  }
  const auto width = std::uint32_t(call.shape.width), groups = (call.shape.lanes + width - 1) / width;
  const std::size_t items = std::size_t(groups) * std::size_t(call.shape.group);
  const std::size_t size = block_of(queue);
  queue->parallel_for(::sycl::nd_range<1>((items + size - 1) / size * size, size), [call](Item item) {
    const auto& [problem, program, shape] = call;
    const auto thread = std::uint32_t(item.get_global_linear_id()), group_size = std::uint32_t(shape.group);
    const std::uint32_t within = thread % group_size;
    const std::uint32_t index = thread / group_size * std::uint32_t(shape.width) + within;
    const Group lanes{item.get_sub_group(), within < std::uint32_t(shape.width) && index < shape.lanes};
    if (device::advance_lane<Atomic, slice>(problem, program, index, copy_for(item, program.copies), lanes)) {
      program.next_live[Atomic::add(&program.report->live, 1u)] = program.live[index];
    }
  });
}

/// The kernels of a slice.
template <class P>
void launch_slice(const Call<P>& call, Stream queue) {
  const auto& [problem, program, shape] = call;
  using enum device::Slice;
  const device::Slice slice = device::slice_of(problem, program);
  if (slice == logs) {
    const std::size_t size = block_of(queue), items = most_items / size * size * std::size_t(shape.processors);
    const ::sycl::nd_range<1> tracing(items, size), flushing(4 * items, size);
    if (shape.lanes > 0) {
      advance_lanes<logs>(call, queue);
      queue->parallel_for(tracing, [call](Item item) {
        device::start_rays<Atomic>(call.problem, call.program, copy_for(item, call.program.copies),
                                   std::uint32_t(item.get_global_linear_id()), std::uint32_t(item.get_global_range(0)));
      });
    }
    if (shape.lanes > 0 || program.keeps) {
      queue->parallel_for(tracing, [call](Item item) {
        device::trace_rays<Atomic>(call.problem, call.program, copy_for(item, call.program.copies),
                                   Group{item.get_sub_group(), true});
      });
    }
    if (program.rays.shares.slots > 0) {
      queue->parallel_for(flushing, [program = program](Item item) {
        const auto entries = device::entries_of<Atomic>(program, copy_for(item, program.copies));
        const std::uint64_t stride = item.get_global_range(0);
        for (std::uint64_t i = item.get_global_linear_id(); i < entries.tables.slots; i += stride) {
          device::flush_slot(i, entries);
        }
      });
    }
    return;
  }
  if constexpr (!device::may_be_part<P>) {
    if (slice == steps) return advance_lanes<steps>(call, queue);
  }
  advance_lanes<refills>(call, queue);
}

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using WholeProblem = decltype(as_whole(std::declval<const ThisProblem&>()));

Status probe() { return {}; }

Status launch(const void* problem, const void* arguments, device::LaunchShape shape, Stream queue) {
  const auto& program = *static_cast<const device::Program<THOR_REAL>*>(arguments);
  const auto& given = *static_cast<const ThisProblem*>(problem);
  if (device::is_whole(given)) {  // what borders and other forms take is left out of these kernels
    launch_slice<WholeProblem>({as_whole(given), program, shape}, queue);
  } else {
    launch_slice<ThisProblem>({given, program, shape}, queue);
  }
  return {};
}

}  // namespace

std::span<const Kernel> THOR_ENTRY() {
  static const Kernel kernels[] = {
      {{device::Task::advance, int(ProblemKind::THOR_KIND), sizeof(THOR_REAL) == 4}, probe, launch}};
  return kernels;
}

}  // namespace thor::sycl
