#pragma once
#include <cstdint>

namespace thor::device {

/// How a launch is spread: `width` lanes in each group of threads that run in lockstep, so that a few lanes have a
/// group each.
struct LaunchShape {
  std::uint32_t lanes = 0;
  int width = 1;
  int group = 1;       ///< threads of such a group
  int processors = 1;  ///< of the device: as many blocks as fit trace the rays
};

/// What a kernel does, for which problem or scene, in which precision.
struct Task {
  enum What { advance, image, sightlines } what;
  int kind;  ///< ProblemKind or DatasetKind
  bool single;

  bool operator==(const Task&) const = default;
};

}  // namespace thor::device
