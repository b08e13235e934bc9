#include "thor/parallel/device/backend.hpp"
#include "thor/parallel/device/kept.hpp"
#include "thor/parallel/gpu/kernels.hpp"

namespace thor::THOR_BACKEND {
namespace {

device::Info describe(int index) {
  Properties properties;
  if (const auto status = get_properties(properties, index); status != success) {
    throw Error(ExitCode::device,
                fmt::format("{0} device {1}: {0}GetDeviceProperties: {2}", name, index, text_of(status)));
  }
  device::Info info;
  info.backend = name, info.index = index, info.name = properties.name;
  info.architecture = architecture_of(properties);
  int driver = 0;
  if (get_driver(driver) == success) info.driver = driver_of(driver);
  info.processors = properties.multiProcessorCount, info.schedulers = schedulers * info.processors;
  info.group = properties.warpSize;
  info.memory = properties.totalGlobalMem;
  info.shares_memory = properties.integrated && properties.pageableMemoryAccess;
  return info;
}

class Gpu final : public device::Device {
 public:
  explicit Gpu(int index) : info_(describe(index)) {
    check(set_device(index), "SetDevice");
    check(set_patient(), "SetDeviceFlags");
    if (entries().front()().front().probe() != success) {
      (void)take_error();
      throw Error(ExitCode::device,
                  fmt::format("{} device {} ({}): this build has no kernels for {}; configure with {}", name,
                              info_.index, info_.name, info_.architecture, option_for(info_.architecture)));
    }
    for (auto& stream : streams_) check(create(stream), "StreamCreate");
  }
  ~Gpu() override {
    for (auto stream : streams_) destroy(stream);
  }

  device::Info info() const override {
    device::Info info = info_;
    std::size_t total;
    check(get_memory(info.memory_free, total), "MemGetInfo");
    return info;
  }

  void* allocate(device::Memory where, std::size_t bytes) override {
    if (void* const memory = memory_.allocate(where, bytes)) return memory;
    throw device::OutOfMemory{bytes, info().memory_free};
  }
  void release(device::Memory where, void* memory) noexcept override { memory_.release(where, memory); }

  void copy_in(int queue, void* device, const void* host, std::size_t bytes) override {
    check(THOR_BACKEND::copy_in(device, host, bytes, streams_[queue]), "MemcpyAsync to device");
  }
  void copy_out(int queue, void* host, const void* device, std::size_t bytes) override {
    check(THOR_BACKEND::copy_out(host, device, bytes, streams_[queue]), "MemcpyAsync to host");
  }
  void fill(int queue, void* device, int byte, std::size_t bytes) override {
    check(THOR_BACKEND::fill(device, byte, bytes, streams_[queue]), "MemsetAsync");
  }
  void wait(int queue) override { check(THOR_BACKEND::wait(streams_[queue]), "StreamSynchronize"); }

  void launch(int queue, const device::Task& task, const void* subject, const void* arguments,
              device::LaunchShape shape) override {
    const Status status = kernel_for(task).launch(subject, arguments, shape, streams_[queue]);
    if (status != success) fail(status, "launch of a kernel");
  }

 private:
  void* obtain(device::Memory where, std::size_t bytes) const {
    void* memory = nullptr;
    const bool pinned = where == device::Memory::pinned;
    const auto status = pinned ? allocate_pinned(memory, bytes) : THOR_BACKEND::allocate(memory, bytes);
    if (status == out_of_memory) {
      (void)take_error();  // not sticky: take it back
      return nullptr;
    }
    check(status, pinned ? "MallocHost" : "Malloc");
    return memory;
  }
  static void give_back(device::Memory where, void* memory) noexcept {
    where == device::Memory::pinned ? release_pinned(memory) : THOR_BACKEND::release(memory);
  }

  /// `call`: its name without that of the backend, with which all begin.
  void check(Status status, const char* call) const {
    if (status != success) fail(status, fmt::format("{}{}", name, call));
  }
  [[noreturn]] void fail(Status status, const std::string& what) const {
    throw Error(ExitCode::device, fmt::format("{} device {} ({}): {}: {} ({})", name, info_.index, info_.name, what,
                                              text_of(status), name_of(status)));
  }

  device::Info info_;
  Stream streams_[queues] = {};
  device::Kept memory_{std::bind_front(&Gpu::obtain, this), &Gpu::give_back};
};

std::vector<device::Info> list() {
  int count = 0;
  if (count_devices(count) != success) return {};
  std::vector<device::Info> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

std::string why_none() {
  int count = 0;
  const auto status = count_devices(count);
  if (status != success && status != no_device) return text_of(status);
  return fmt::format("no {} GPU is visible", maker);
}

std::unique_ptr<device::Device> open(int index) { return std::make_unique<Gpu>(index); }

}  // namespace

extern const device::Backend backend;
const device::Backend backend{name, list, open, why_none, version};

}  // namespace thor::THOR_BACKEND
