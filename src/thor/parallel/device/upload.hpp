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

/// Copies of the arrays that problems and sources point to, on a device for as long as this lives. A device that shares
/// memory reads those of the host.
class Copies {
 public:
  explicit Copies(Device& device) : device_(device), shares_(device.info().shares_memory) {}

  /// As Upload.
  const void* operator()(const void* data, std::size_t bytes) {
    if (shares_ || bytes == 0) return data;
    arrays_.push_back(upload<std::byte>(device_, {static_cast<const std::byte*>(data), bytes}));
    return arrays_.back().data();
  }

  template <class Real>
  AnyProblem<Real> copy(AnyProblem<Real> problem) {
    problem.mirror(std::ref(*this));
    return problem;
  }
  template <class Real>
  std::vector<Source<Real>> copy(std::vector<Source<Real>> sources) {
    for (auto& source : sources) {
      for_each_array(source, [this]<class U>(const U*& array, std::size_t count) {
        array = static_cast<const U*>((*this)(array, count * sizeof(U)));
      });
    }
    return sources;
  }

 private:
  Device& device_;
  bool shares_;
  std::vector<Buffer<std::byte>> arrays_;
};

}  // namespace thor::device
