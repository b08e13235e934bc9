#pragma once
#include <cstdint>

namespace thor::device {

/// How a launch is spread: `width` lanes in each warp of 32, so that a few lanes have a warp each.
struct LaunchShape {
  std::uint32_t lanes;
  int width;
};

}  // namespace thor::device
