#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>

/// The CUDA runtime under the names that parallel/gpu uses, and the numbers of NVIDIA GPUs.
namespace thor::cuda {

inline constexpr std::string_view name = "cuda", option = "THOR_CUDA", maker = "NVIDIA";

inline constexpr int warp = 32;                  ///< threads that run in lockstep
inline constexpr int schedulers = 4;             ///< of a multiprocessor
inline constexpr int block = warp * schedulers;  ///< threads
inline constexpr int all_registers = 65536;      ///< of a multiprocessor

using Status = cudaError_t;
using Stream = cudaStream_t;
using Properties = cudaDeviceProp;
inline constexpr Status success = cudaSuccess, out_of_memory = cudaErrorMemoryAllocation;

inline const char* text_of(Status status) { return cudaGetErrorString(status); }
inline const char* name_of(Status status) { return cudaGetErrorName(status); }
inline Status take_error() { return cudaGetLastError(); }

inline Status count_devices(int& count) { return cudaGetDeviceCount(&count); }
inline Status get_properties(Properties& properties, int index) { return cudaGetDeviceProperties(&properties, index); }
inline Status set_device(int index) { return cudaSetDevice(index); }
/// The host sleeps while it waits: its processors have other work.
inline Status set_patient() { return cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync); }
inline Status get_memory(std::size_t& free, std::size_t& total) { return cudaMemGetInfo(&free, &total); }
inline Status create(Stream& stream) { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
inline void destroy(Stream stream) { cudaStreamDestroy(stream); }
inline Status wait(Stream stream) { return cudaStreamSynchronize(stream); }

inline Status allocate(void*& memory, std::size_t bytes) { return cudaMalloc(&memory, bytes); }
inline Status allocate_pinned(void*& memory, std::size_t bytes) { return cudaMallocHost(&memory, bytes); }
inline void release(void* memory) { cudaFree(memory); }
inline void release_pinned(void* memory) { cudaFreeHost(memory); }
inline Status copy_in(void* device, const void* host, std::size_t bytes, Stream stream) {
  return cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
}
inline Status copy_out(void* host, const void* device, std::size_t bytes, Stream stream) {
  return cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream);
}
inline Status fill(void* device, int byte, std::size_t bytes, Stream stream) {
  return cudaMemsetAsync(device, byte, bytes, stream);
}
/// Whether this build has a kernel for the current device.
inline Status find_kernel(const void* kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}

inline std::string architecture_of(const Properties& properties) {
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}
/// How a build gets kernels for an architecture.
inline std::string option_for(std::string_view architecture) {
  return "-DCMAKE_CUDA_ARCHITECTURES=" + std::string(architecture.substr(3));
}
inline std::string version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION / 10 % 100);
}

}  // namespace thor::cuda
