#pragma once
#include <fmt/format.h>

#include "thor/core/error.hpp"
#include "thor/parallel/gpu/kernel.hpp"

namespace thor::THOR_BACKEND {

/// The kernel for a task; Error, if this build has none.
inline const Kernel& kernel_for(const device::Task& task) {
  bool has_precision = false;
  for (const Entry entry : entries()) {
    for (const Kernel& kernel : entry()) {
      if (kernel.task == task) return kernel;
      has_precision = has_precision || (kernel.task.what == task.what && kernel.task.single == task.single);
    }
  }
  throw Error(ExitCode::device,
              has_precision
                  ? fmt::format("this build has no kernels for GPUs for this line, gas and numerics: configure with "
                                "-DTHOR_SELECTED_NUMERICS=ON and without {}_FOR, or run with --device cpu",
                                option)
                  : fmt::format("this build has no double-precision kernels for GPUs: configure with "
                                "-D{}_DOUBLE=ON, or run with --precision single or --device cpu",
                                option));
}

}  // namespace thor::THOR_BACKEND
