#pragma once
#include <cstdint>

namespace thor::device {

/// How a launch is spread: `width` lanes in each warp of 32, so that a few lanes have a warp each.
struct LaunchShape {
  std::uint32_t lanes;
  int width;
  int processors;  ///< of the device: as many blocks as fit trace the rays
};

}  // namespace thor::device
