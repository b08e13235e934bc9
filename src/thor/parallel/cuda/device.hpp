#pragma once
#include "thor/parallel/device/device.hpp"

/// NVIDIA GPUs.
namespace thor::cuda {

std::vector<device::Info> list();
std::unique_ptr<device::Device> open(int index);
/// Why list() is empty.
std::string why_none();
std::string version();

}  // namespace thor::cuda
