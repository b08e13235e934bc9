#pragma once
#include "thor/datasets/domains.hpp"
#include "thor/generators/emitter.hpp"

namespace thor {

/// How many photons begin in a box of cells, to within a block of some cells: what is known of the work that a grid
/// will be before a photon has been followed.
class LightMap {
 public:
  LightMap(const Emitter<double>& emitter, const CellIndex& shape);
  /// Share of all photons.
  double operator()(const CellBox& box) const;

 private:
  static constexpr std::int64_t most_blocks = 64;  ///< along an axis
  double below(const std::array<double, 3>& corner) const;
  std::size_t place(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return std::size_t((x * (blocks_[1] + 1) + y) * (blocks_[2] + 1) + z);
  }

  CellIndex shape_, blocks_{};
  std::vector<double> sums_;  ///< photons in all blocks below a corner along every axis
};

}  // namespace thor
