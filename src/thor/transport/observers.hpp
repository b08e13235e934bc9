#pragma once
#include <array>
#include <vector>

namespace thor {

/// The observers of a run, as the engines need them.
struct Observers {
  std::vector<std::array<double, 3>> towards;  ///< unit vectors from the object to each of them
  double cut = 30;                             ///< optical depth at which every ray ends
  double roulette = 3;                         ///< optical depth from which rays end at random
  double depth = 0;                ///< path at which rays end and are seen, in the lanes' unit of length; 0: none
  std::vector<char> from_start{};  ///< of each: whether it sees the frequency with which a ray starts, not ends

  bool empty() const { return towards.empty(); }
};

}  // namespace thor
