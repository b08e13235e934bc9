#pragma once
#include "thor/gridding/plan/frame.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Properties of a snapshot that are needed before it is gridded. Elements with invalid values are ignored here; the
/// deposit counts them.
namespace thor::gridding {

/// Number of gas elements that are read at a time.
inline constexpr std::size_t block_size = 1 << 18;

/// Position of the densest gas element [cm]. Error(input) if no element has a density.
Vector densest(const io::Snapshot& snapshot);

struct Motion {
  double mass = 0;            ///< [g]
  Vector velocity{};          ///< velocity of the centre of mass [cm/s]
  Vector angular_momentum{};  ///< about the centre of the frame, without the bulk motion [g cm^2/s]
};

/// Motion of the gas within this radius of the centre.
Motion motion_within(const io::Snapshot& snapshot, const Frame& frame, double radius);

/// Accumulates the same sums block by block.
struct MotionSums {
  double mass = 0;
  Vector momentum{}, moment{}, angular_momentum{};  ///< moment: mass times position

  void add(const io::GasBlock& block, const Frame& frame, double radius);
  Motion motion() const;
};

}  // namespace thor::gridding
