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

/// Those of an object, which is compiled with its name.
using Entry = std::span<const Kernel> (*)();

/// Those of this build.
std::span<const Entry> entries();

}  // namespace thor::THOR_BACKEND
