#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "thor/datasets/octree_tree.hpp"
#include "thor/gridding/deposit/deposit.hpp"

/// An octree over a cube that is as fine as the particles in it, and what they add to its leaves.
namespace thor::gridding {

/// A leaf that holds more than one particle is split if it holds more than this.
struct Refinement {
  std::uint64_t number = 8;
  double mass = std::numeric_limits<double>::infinity();  ///< [g]
};

/// The leaves for particles at places from 0 to 1 along each axis, along the curve of the tree. They are split 21 times
/// at most.
std::vector<OctreeLeaf> refine(const std::vector<std::array<double, 3>>& places, const std::vector<double>& masses,
                               const Refinement& rule);

/// Sums of extensive quantities over the leaves of a tree.
class TreeSums {
 public:
  TreeSums(const OctreeTree& tree, int fields, bool periodic);

  /// Adds particles, whose lengths are in sides of the box, with their kernels: each at hundreds of places that follow
  /// its kernel and have equal shares, or where its kernel lies within a leaf, in that one. Of a kernel that is mostly
  /// outside, the places are where it overlaps the box. All that is inside is added, so that sums are conserved. The
  /// result does not depend on the number of threads. Returns the share of each particle that is inside.
  std::vector<double> add(const Particles& particles, int threads);

  /// The sums of a leaf, per volume of the box.
  const double* of(std::int64_t leaf) const { return sums_.data() + std::size_t(leaf) * fields_; }
  /// Of all leaves.
  std::vector<double> total() const;

 private:
  /// What a particle has in a leaf.
  struct Share {
    std::uint32_t leaf, particle;
    double share;
  };
  /// Leaves at places of a particle, and its shares there.
  using Found = std::vector<std::pair<std::int64_t, double>>;
  bool is_mostly_outside(const std::array<double, 3>& centre, double radius, Found& found) const;
  void spread(const Particles& particles, std::size_t i, Found& found, std::vector<Share>& shares) const;
  std::int64_t leaf_at(const std::array<double, 3>& place) const;

  const OctreeTree& tree_;
  const Octree<double> view_;
  const std::size_t fields_;
  const bool periodic_;
  std::vector<double> sums_;
};

}  // namespace thor::gridding
