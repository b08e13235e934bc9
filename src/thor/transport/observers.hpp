#pragma once
#include <array>
#include <vector>

namespace thor {

/// The observers of a run, as the engines need them.
struct Observers {
  std::vector<std::array<double, 3>> towards;  ///< unit vectors from the object to each of them
  double cut = 30;                             ///< optical depth at which every ray ends
  double roulette = 3;                         ///< optical depth from which rays end at random
  int recorded = -1;                           ///< the one whose light goes to the sink; -1: none

  bool empty() const { return towards.empty(); }
};

}  // namespace thor
