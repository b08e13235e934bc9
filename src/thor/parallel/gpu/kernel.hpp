#pragma once
#include THOR_RUNTIME_HEADER

#include <span>

#include "thor/parallel/device/shape.hpp"
#include "thor/transport/problem_kind.hpp"

/// The sources in this folder are compiled for each backend of GPUs (THOR_BACKEND), on the names of its
/// THOR_RUNTIME_HEADER and THOR_INTRINSICS_HEADER: see ThorBackends.cmake.
namespace thor::THOR_BACKEND {

/// A kernel for a task; each object exports some.
struct Kernel {
  device::Task task;
  Status (*probe)();  ///< whether this build has it for the current device
  Status (*launch)(const void* subject, const void* arguments, device::LaunchShape shape, Stream stream);
};

/// The kernels of this build, an object's at a time.
std::span<const std::span<const Kernel>> kernels();

}  // namespace thor::THOR_BACKEND
