#include "thor/parallel/cuda/device.hpp"

#include <fmt/format.h>

#include "thor/core/error.hpp"
#include "thor/parallel/cuda/kernel.hpp"

namespace thor::cuda {
namespace {

device::Info describe(int index) {
  cudaDeviceProp properties;
  if (const auto error = cudaGetDeviceProperties(&properties, index)) {
    throw Error(ExitCode::device,
                fmt::format("cuda device {}: cudaGetDeviceProperties: {}", index, cudaGetErrorString(error)));
  }
  device::Info info;
  info.backend = "cuda", info.index = index, info.name = properties.name;
  info.architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
  info.processors = properties.multiProcessorCount, info.schedulers = schedulers * info.processors;
  info.group = properties.warpSize;
  info.memory = properties.totalGlobalMem;
  return info;
}

class CudaDevice final : public device::Device {
 public:
  explicit CudaDevice(int index) : info_(describe(index)) {
    check(cudaSetDevice(index), "cudaSetDevice");
    // The host sleeps while it waits: its processors have other work.
    check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "cudaSetDeviceFlags");
    if (kernels().front().front().probe() != cudaSuccess) {
      throw Error(ExitCode::device,
                  fmt::format("cuda device {} ({}): this build has no kernels for {}; configure with "
                              "-DCMAKE_CUDA_ARCHITECTURES={}",
                              info_.index, info_.name, info_.architecture, info_.architecture.substr(3)));
    }
    for (auto& stream : streams_) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaDevice() override {
    for (auto stream : streams_) cudaStreamDestroy(stream);
  }

  device::Info info() const override {
    device::Info info = info_;
    std::size_t total;
    check(cudaMemGetInfo(&info.memory_free, &total), "cudaMemGetInfo");
    return info;
  }

  void* allocate(device::Memory where, std::size_t bytes) override {
    void* memory = nullptr;
    const bool pinned = where == device::Memory::pinned;
    const auto error = pinned ? cudaMallocHost(&memory, bytes) : cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky: take it back
      throw device::OutOfMemory{bytes, info().memory_free};
    }
    check(error, pinned ? "cudaMallocHost" : "cudaMalloc");
    return memory;
  }
  void release(device::Memory where, void* memory) noexcept override {
    where == device::Memory::pinned ? cudaFreeHost(memory) : cudaFree(memory);
  }

  void copy_in(int queue, void* device, const void* host, std::size_t bytes) override {
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, streams_[queue]), "cudaMemcpyAsync to device");
  }
  void copy_out(int queue, void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, streams_[queue]), "cudaMemcpyAsync to host");
  }
  void fill(int queue, void* device, int byte, std::size_t bytes) override {
    check(cudaMemsetAsync(device, byte, bytes, streams_[queue]), "cudaMemsetAsync");
  }
  void wait(int queue) override { check(cudaStreamSynchronize(streams_[queue]), "cudaStreamSynchronize"); }

  void launch(int queue, const device::Task& task, const void* subject, const void* arguments,
              device::LaunchShape shape) override {
    check(kernel_for(task).launch(subject, arguments, shape, streams_[queue]), "launch of a kernel");
  }

 private:
  static const Kernel& kernel_for(const device::Task& task) {
    bool has_precision = false;
    for (const auto& list : kernels()) {
      for (const Kernel& kernel : list) {
        if (kernel.task == task) return kernel;
        has_precision = has_precision || (kernel.task.what == task.what && kernel.task.single == task.single);
      }
    }
    throw Error(ExitCode::device,
                has_precision ? "this build has no kernels for GPUs for this line, gas and numerics: configure with "
                                "-DTHOR_SELECTED_NUMERICS=ON and without THOR_CUDA_FOR, or run with --device cpu"
                              : "this build has no double-precision kernels for GPUs: configure with "
                                "-DTHOR_CUDA_DOUBLE=ON, or run with --precision single or --device cpu");
  }
  void check(cudaError_t error, const char* call) const {
    if (error == cudaSuccess) return;
    throw Error(ExitCode::device, fmt::format("cuda device {} ({}): {}: {} ({})", info_.index, info_.name, call,
                                              cudaGetErrorString(error), cudaGetErrorName(error)));
  }

  device::Info info_;
  cudaStream_t streams_[queues] = {};
};

}  // namespace

std::vector<device::Info> list() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<device::Info> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

std::string why_none() {
  int count = 0;
  if (const auto error = cudaGetDeviceCount(&count)) return cudaGetErrorString(error);
  return "no NVIDIA GPU is visible";
}

std::string version() { return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100); }

std::unique_ptr<device::Device> open(int index) { return std::make_unique<CudaDevice>(index); }

}  // namespace thor::cuda
