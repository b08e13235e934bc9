#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "thor/parallel/device/device.hpp"

/// Memory of a device, for its engines.
namespace thor::device {

inline std::string describe(const Info& info, const OutOfMemory& e) {
  return fmt::format("{}:{} ({}): {:.3g} MB could not be allocated, {:.3g} MB are free,", info.backend, info.index,
                     info.name, double(e.asked) / 1e6, double(e.free) / 1e6);
}

/// A copy of host data on the device.
template <class T>
Buffer<T> upload(Device& device, std::span<const T> data) {
  Buffer<T> buffer(device, Memory::device, std::max<std::size_t>(data.size(), 1));
  if (!data.empty()) device.copy_in(0, buffer.data(), data.data(), data.size_bytes());
  device.wait(0);
  return buffer;
}

}  // namespace thor::device
