#pragma once
#include <hip/hip_runtime_api.h>

#define THOR_CALL(name) hip##name
#include "thor/parallel/gpu/runtime.hpp"

/// What AMD's GPUs have of their own.
namespace thor::hip {

inline constexpr std::string_view name = "hip", option = "THOR_HIP", maker = "AMD";

inline constexpr int schedulers = 4;  ///< of a compute unit: what AMD calls SIMDs
inline constexpr int block = 256;     ///< threads: a group of 64 for each scheduler

using Properties = hipDeviceProp_t;
inline Status get_properties(Properties& properties, int index) { return hipGetDeviceProperties(&properties, index); }

inline Status allocate_pinned(void*& memory, std::size_t bytes) {
  return hipHostMalloc(&memory, bytes, hipHostMallocDefault);
}
inline void release_pinned(void* memory) { (void)hipHostFree(memory); }

/// Without what it says of error correction and paging, as in "gfx90a:sramecc+:xnack-".
inline std::string architecture_of(const Properties& properties) {
  const std::string_view name = properties.gcnArchName;
  return std::string(name.substr(0, name.find(':')));
}
/// How a build gets kernels for an architecture.
inline std::string option_for(std::string_view architecture) {
  return "-DTHOR_HIP_ARCHITECTURES=" + std::string(architecture);
}
/// Of major, minor and patch in one number.
inline std::string driver_of(int version) {
  return std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100);
}
inline std::string version() { return std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR); }

}  // namespace thor::hip
