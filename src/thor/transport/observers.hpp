#pragma once
#include <array>
#include <vector>

namespace thor {

/// When rays towards observers end, plain data.
struct RayEnds {
  double cut = 30;      ///< optical depth at which every ray ends
  double roulette = 3;  ///< optical depth from which rays end at random
  double depth = 0;     ///< path at which they end and are seen, in the lanes' unit of length; 0: none
};

/// The observers of a run, as the engines need them.
struct Observers {
  std::vector<std::array<double, 3>> towards;  ///< unit vectors from the object to each of them
  RayEnds ends{};
  double memory = 2e9;             ///< of a device, for events whose rays wait [byte]
  std::vector<char> from_start{};  ///< of each: whether it sees the frequency with which a ray starts, not ends
  int recorded = -1;               ///< the one whose light goes to the sink; -1: none

  bool empty() const { return towards.empty(); }
};

}  // namespace thor
