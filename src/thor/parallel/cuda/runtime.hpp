#pragma once
#include <cuda_runtime_api.h>

#include <cstdlib>

#define THOR_CALL(name) cuda##name
#include "thor/parallel/gpu/runtime.hpp"

/// What NVIDIA's GPUs have of their own.
namespace thor::cuda {

inline constexpr std::string_view name = "cuda", option = "THOR_CUDA", maker = "NVIDIA";

inline constexpr int schedulers = 4;           ///< of a multiprocessor
inline constexpr int block = 32 * schedulers;  ///< threads
inline constexpr int all_registers = 65536;    ///< of a multiprocessor

/// Streams share hardware queues, in which work of one waits for that of others. There are 8 of them unless more are
/// asked for before the first call.
inline const int is_wide = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);

using Properties = cudaDeviceProp;
inline Status get_properties(Properties& properties, int index) { return cudaGetDeviceProperties(&properties, index); }

inline Status allocate_pinned(void*& memory, std::size_t bytes) { return cudaMallocHost(&memory, bytes); }
inline void release_pinned(void* memory) { cudaFreeHost(memory); }

inline std::string architecture_of(const Properties& properties) {
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}
/// How a build gets kernels for an architecture.
inline std::string option_for(std::string_view architecture) {
  return "-DCMAKE_CUDA_ARCHITECTURES=" + std::string(architecture.substr(3));
}
/// As of the runtime: 13020 is 13.2. The driver's is the newest that it supports.
inline std::string driver_of(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version / 10 % 100);
}
inline std::string version() { return driver_of(CUDART_VERSION); }

}  // namespace thor::cuda
