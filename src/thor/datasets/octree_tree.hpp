#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "thor/datasets/octree.hpp"

namespace thor {

/// A leaf as files have it: its level, and its number along each axis among leaves of that level.
struct OctreeLeaf {
  std::int32_t level;
  std::array<std::int64_t, 3> at;
};

/// An octree without its gas. Leaves are numbered along its curve: the children of a node one after the other, x
/// slowest.
class OctreeTree {
 public:
  static constexpr int deepest = 29;  ///< level, for which 32 bits are enough

  /// Error(input) that begins with `name` if leaves overlap, leave gaps, or are not there.
  OctreeTree(const std::string& name, const std::vector<OctreeLeaf>& leaves);
  /// Part of an octree: the leaves that it holds, and those behind its border, under the numbers of CellsHeld. Both in
  /// ascending order.
  OctreeTree(const OctreeTree& whole, const std::vector<std::int32_t>& held, const std::vector<std::int32_t>& border);

  std::int64_t leaves() const { return std::int64_t(corner_.size()); }
  int depth() const { return depth_; }
  int coarsest() const { return coarsest_; }
  /// The leaf that one of the file is.
  std::int64_t leaf_of(std::int64_t in_file) const { return leaf_of_[std::size_t(in_file)]; }
  const std::array<std::int32_t, 3>& corner(std::int64_t leaf) const { return corner_[std::size_t(leaf)]; }
  std::int32_t width(std::int64_t leaf) const { return std::int32_t(1) << (depth_ - level_[std::size_t(leaf)]); }
  std::array<std::int32_t, 3> centre(std::int64_t leaf) const;  ///< as in OctreePlace
  std::int64_t bytes() const;                                   ///< of the arrays that kernels use

  /// The leaves behind the faces of a leaf, but for those from `first` to before `end`. Some come more than once.
  void for_each_neighbour(std::int64_t leaf, bool periodic, std::int64_t first, std::int64_t end,
                          const std::function<void(std::int64_t)>& take) const;

  /// As kernels see it, without gas, physics and zero.
  Octree<double> view() const;

 private:
  std::int32_t build(std::size_t first, std::size_t end, int level, const std::array<std::int32_t, 3>& corner);
  std::int32_t build_part(const OctreeTree& whole, const std::vector<std::int32_t>& held,
                          const std::vector<std::int32_t>& known, std::int32_t entry, std::int32_t first,
                          std::int32_t end);
  void build_table();
  std::int32_t first_leaf(std::int32_t entry) const { return entry < 0 ? -1 - entry : firsts_[std::size_t(entry)]; }

  int depth_ = 0, coarsest_ = deepest, table_depth_ = 0;
  std::vector<std::uint8_t> level_;
  std::vector<std::array<std::int32_t, 3>> corner_;
  std::vector<std::uint32_t> leaf_of_;
  std::vector<std::int32_t> table_, nodes_, firsts_;
};

}  // namespace thor
