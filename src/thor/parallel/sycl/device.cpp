#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "thor/parallel/device/backend.hpp"
#include "thor/parallel/device/kept.hpp"
#include "thor/parallel/gpu/kernels.hpp"

namespace thor::sycl {
namespace {

/// AdaptiveCpp prints warnings to stdout, as of drivers that are not there. It asks when it starts, before main().
[[gnu::constructor(101)]] void be_quiet() { setenv("ACPP_DEBUG_LEVEL", "0", 0); }

/// All that runtimes know and thor can use, processors last; none, if there is no runtime.
const std::vector<::sycl::device>& devices() {
  static const std::vector<::sycl::device> all = [] {
    try {
      auto found = ::sycl::device::get_devices();
      std::erase_if(found, [](const ::sycl::device& d) {
        return !d.has(::sycl::aspect::usm_device_allocations) || !d.has(::sycl::aspect::usm_host_allocations) ||
               !d.has(::sycl::aspect::atomic64);
      });
      std::ranges::stable_partition(found, [](const ::sycl::device& d) { return !d.is_cpu(); });
      return found;
    } catch (const ::sycl::exception&) {
      return std::vector<::sycl::device>();
    }
  }();
  return all;
}

/// AdaptiveCpp gives 2^64 for processors.
std::size_t memory_of_machine() { return std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE)); }

device::Info describe(int index) {
  namespace query = ::sycl::info::device;
  const ::sycl::device& device = devices()[std::size_t(index)];
  const auto widths = device.get_info<query::sub_group_sizes>();
  device::Info info;
  info.backend = name, info.index = index, info.name = device.get_info<query::name>();
  info.architecture = device.get_platform().get_info<::sycl::info::platform::name>();
  info.driver = device.get_info<query::driver_version>();
  info.processors = int(device.get_info<query::max_compute_units>()), info.schedulers = 4 * info.processors;
  info.group = 1;  // no sub-group is narrower; OpenCL names all powers of two
  for (const std::size_t width : widths) {
    if (width >= 8 && (info.group == 1 || int(width) < info.group)) info.group = int(width);
  }
  info.has_double = device.has(::sycl::aspect::fp64);
  info.is_processor = info.shares_memory = device.is_cpu();
  info.memory = std::min<std::size_t>(device.get_info<query::global_mem_size>(),
                                      info.is_processor ? memory_of_machine() : ~std::size_t(0));
  return info;
}

/// What failed on a device. AdaptiveCpp has one list of errors for all queues, and gives it to the handler of whichever
/// asks next, a destructor included: so a handler does not throw, and all devices look here.
class Failures {
 public:
  static Failures& all() {
    static Failures failures;
    return failures;
  }
  void add(const ::sycl::exception_list& errors) noexcept {
    for (const auto& error : errors) {
      try {
        std::rethrow_exception(error);
      } catch (const ::sycl::exception& e) {
        if (e.code() != ::sycl::errc::memory_allocation) add(e.what());  // allocate() has seen that
      } catch (const std::exception& e) {
        add(e.what());
      }
    }
  }
  std::string first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  void add(const char* text) {
    const std::lock_guard lock(mutex_);
    if (first_.empty()) first_ = text;
  }
  mutable std::mutex mutex_;
  std::string first_;
};

[[noreturn]] void fail(const device::Info& info, std::string_view what, const std::string& why) {
  throw Error(ExitCode::device, fmt::format("sycl device {} ({}): {}: {}", info.index, info.name, what, why));
}

/// What a call of SYCL throws, as an error of ours.
template <class Call>
auto checked(const device::Info& info, std::string_view what, const Call& call) {
  try {
    return call();
  } catch (const ::sycl::exception& e) {
    fail(info, what, e.what());
  }
}

class SyclDevice final : public device::Device {
 public:
  explicit SyclDevice(int index) : info_(describe(index)) {
    if (!info_.has_double) {  // the tally adds in double precision
      throw Error(ExitCode::device, fmt::format("sycl device {} ({}) has no double precision, which thor needs: run "
                                                "with --device cpu",
                                                index, info_.name));
    }
    const auto keep = [](const ::sycl::exception_list& errors) { Failures::all().add(errors); };
    checked(info_, "queue", [&] {
      const ::sycl::device& device = devices()[std::size_t(index)];
      const ::sycl::context context(device);
      for (int i = 0; i < queues; ++i) {
        queues_.emplace_back(context, device, keep, ::sycl::property_list{::sycl::property::queue::in_order()});
      }
    });
  }

  device::Info info() const override {
    device::Info info = info_;
    info.memory_free = info.memory - std::min(info.memory, memory_.obtained(device::Memory::device));
    return info;
  }

  void* allocate(device::Memory where, std::size_t bytes) override {
    if (void* const memory = memory_.allocate(where, bytes)) return memory;
    throw device::OutOfMemory{bytes, info().memory_free};
  }
  void release(device::Memory where, void* memory) noexcept override { memory_.release(where, memory); }

  void copy_in(int queue, void* device, const void* host, std::size_t bytes) override {
    checked(info_, "copy to the device", [&] { queues_[queue].memcpy(device, host, bytes); });
  }
  void copy_out(int queue, void* host, const void* device, std::size_t bytes) override {
    checked(info_, "copy from the device", [&] { queues_[queue].memcpy(host, device, bytes); });
  }
  void fill(int queue, void* device, int byte, std::size_t bytes) override {
    checked(info_, "memset", [&] { queues_[queue].memset(device, byte, bytes); });
  }
  void wait(int queue) override {
    checked(info_, "kernel or copy", [&] { queues_[queue].wait_and_throw(); });
    if (const std::string why = Failures::all().first(); !why.empty()) fail(info_, "kernel or copy", why);
  }
  void launch(int queue, const device::Task& task, const void* subject, const void* arguments,
              device::LaunchShape shape) override {
    const Kernel& kernel = kernel_for(task);
    checked(info_, "launch of a kernel", [&] { kernel.launch(subject, arguments, shape, &queues_[queue]); });
  }

 private:
  /// SYCL does not tell how much memory is free.
  void* obtain(device::Memory where, std::size_t bytes) {
    const bool pinned = where == device::Memory::pinned;
    if (!pinned && bytes > info().memory_free) return nullptr;
    return checked(info_, "allocation", [&] {
      return pinned ? ::sycl::malloc_host(bytes, queues_[0]) : ::sycl::aligned_alloc_device(256, bytes, queues_[0]);
    });
  }
  void give_back(device::Memory, void* memory) noexcept {
    try {
      ::sycl::free(memory, queues_[0]);
    } catch (const ::sycl::exception&) {  // the device is lost, and its memory with it
    }
  }

  device::Info info_;
  std::vector<::sycl::queue> queues_;
  device::Kept memory_{std::bind_front(&SyclDevice::obtain, this), std::bind_front(&SyclDevice::give_back, this)};
};

std::vector<device::Info> list() {
  std::vector<device::Info> infos;
  for (std::size_t i = 0; i < devices().size(); ++i) infos.push_back(describe(int(i)));
  return infos;
}

std::string why_none() { return "no SYCL runtime has a device"; }

std::unique_ptr<device::Device> open(int index) { return std::make_unique<SyclDevice>(index); }

std::string version() {
#if defined(ACPP_VERSION_MAJOR)
  return fmt::format("AdaptiveCpp {}.{}", ACPP_VERSION_MAJOR, ACPP_VERSION_MINOR);
#else
  return fmt::format("SYCL {}", SYCL_LANGUAGE_VERSION);
#endif
}

}  // namespace

extern const device::Backend backend;
const device::Backend backend{name, list, open, why_none, version};

}  // namespace thor::sycl
