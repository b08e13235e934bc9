#pragma once
#include <array>
#include <vector>

namespace thor {

/// When rays towards observers end, plain data.
struct RayEnds {
  double cut = 30;      ///< optical depth at which every ray ends
  double roulette = 3;  ///< optical depth from which rays end at random
};

/// The observers of a run, as the engines need them.
struct Observers {
  std::vector<std::array<double, 3>> towards;  ///< unit vectors from the object to each of them
  RayEnds ends{};
  double memory = 2e9;  ///< of a device, for events whose rays wait [byte]

  bool empty() const { return towards.empty(); }
};

}  // namespace thor
