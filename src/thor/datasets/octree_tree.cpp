#include "thor/datasets/octree_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/error.hpp"

namespace thor {
namespace {

using Corner = std::array<std::int32_t, 3>;
using Curve = unsigned __int128;  // 3 bits a level

/// The number of a finest leaf along the curve.
Curve along_curve(const Corner& corner, int depth) {
  Curve found = 0;
  for (int bit = depth; bit-- > 0;) {
    for (const std::int32_t k : corner) found = (found << 1) | unsigned(k >> bit & 1);
  }
  return found;
}

std::string text_of(const OctreeLeaf& leaf, std::size_t number) {
  return fmt::format("leaf {} (level {}, at {} {} {})", number, leaf.level, leaf.at[0], leaf.at[1], leaf.at[2]);
}

}  // namespace

OctreeTree::OctreeTree(const std::string& name, const std::vector<OctreeLeaf>& leaves) {
  const auto fail = [&](const std::string& what) { throw Error(ExitCode::input, name + ": " + what); };
  if (leaves.empty()) fail("the octree has no leaves");
  if (leaves.size() > 0x7fffffffu) fail(fmt::format("{} leaves; at most 2^31 are possible", leaves.size()));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const OctreeLeaf& leaf = leaves[i];
    if (leaf.level < 0 || leaf.level > deepest) {
      fail(fmt::format("leaf {} has level {}; expected 0 (the whole box) to {}", i, leaf.level, deepest));
    }
    for (const std::int64_t at : leaf.at) {
      if (at < 0 || at >= std::int64_t(1) << leaf.level) {
        fail(fmt::format("{} lies outside the box: its numbers are from 0 to {} on this level", text_of(leaf, i),
                         (std::int64_t(1) << leaf.level) - 1));
      }
    }
    depth_ = std::max(depth_, leaf.level), coarsest_ = std::min(coarsest_, leaf.level);
  }
  const auto corner_of = [&](const OctreeLeaf& leaf) {
    Corner corner{};
    for (std::size_t k = 0; k < 3; ++k) corner[k] = std::int32_t(leaf.at[k] << (depth_ - leaf.level));
    return corner;
  };
  std::vector<std::pair<Curve, std::uint32_t>> order(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    order[i] = {along_curve(corner_of(leaves[i]), depth_), std::uint32_t(i)};
  }
  std::ranges::sort(order);
  leaf_of_.resize(leaves.size()), level_.resize(leaves.size()), corner_.resize(leaves.size());
  Curve end = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& [begin, number] = order[i];
    const OctreeLeaf& leaf = leaves[number];
    if (begin < end) {
      fail(fmt::format("{} overlaps {}: each place belongs to one leaf", text_of(leaf, number),
                       text_of(leaves[order[i - 1].second], order[i - 1].second)));
    }
    if (begin > end) fail(fmt::format("there is a gap before {}: leaves have to fill the box", text_of(leaf, number)));
    end = begin + (Curve(1) << (3 * (depth_ - leaf.level)));
    leaf_of_[number] = std::uint32_t(i), level_[i] = std::uint8_t(leaf.level), corner_[i] = corner_of(leaf);
  }
  if (end < Curve(1) << (3 * depth_)) fail("there is a gap at the end of the box: leaves have to fill it");
  build(0, order.size(), 0, {0, 0, 0});
  build_table();
}

OctreeTree::OctreeTree(const OctreeTree& whole, const std::vector<std::int32_t>& held,
                       const std::vector<std::int32_t>& border)
    : depth_(whole.depth_), coarsest_(whole.coarsest_) {
  for (const std::int32_t leaf : held) {
    corner_.push_back(whole.corner(leaf)), level_.push_back(whole.level_[std::size_t(leaf)]);
  }
  std::vector<std::int32_t> known;
  std::ranges::merge(held, border, std::back_inserter(known));
  build_part(whole, held, known, whole.nodes_.empty() ? -1 : 0, 0, std::int32_t(whole.leaves()));
  build_table();
}

/// What a node of the whole, with these leaves below it, is in the part.
std::int32_t OctreeTree::build_part(const OctreeTree& whole, const std::vector<std::int32_t>& held,
                                    const std::vector<std::int32_t>& known, std::int32_t entry, std::int32_t first,
                                    std::int32_t end) {
  const auto count = std::int32_t(held.size());
  const auto next = std::ranges::lower_bound(known, first);
  if (entry < 0 || next == known.end() || *next >= end) return -1 - CellsHeld{held.data(), count}.to_part(first);
  const auto node = std::int32_t(nodes_.size() / 8);
  nodes_.resize(nodes_.size() + 8);
  for (int k = 0; k < 8; ++k) {
    const std::int32_t* const children = whole.nodes_.data() + 8 * std::size_t(entry);
    const std::int32_t last = k < 7 ? whole.first_leaf(children[k + 1]) : end;
    const std::int32_t found = build_part(whole, held, known, children[k], whole.first_leaf(children[k]), last);
    nodes_[8 * std::size_t(node) + std::size_t(k)] = found;
  }
  return node;
}

void OctreeTree::for_each_neighbour(std::int64_t leaf, bool periodic, std::int64_t first, std::int64_t end,
                                    const std::function<void(std::int64_t)>& take) const {
  const std::int64_t root = std::int64_t(1) << depth_, side = width(leaf);
  std::array<std::int64_t, 3> low{}, high{};  // the places behind a face
  const auto visit = [&](const auto& self, std::int32_t entry, std::int64_t after,
                         const std::array<std::int64_t, 3>& at, std::int64_t size) -> void {
    const std::int64_t begin = first_leaf(entry);
    if (begin >= first && after <= end) return;
    for (std::size_t k = 0; k < 3; ++k) {
      if (at[k] >= high[k] || at[k] + size <= low[k]) return;
    }
    if (entry < 0) return take(begin);
    const std::int64_t half = size / 2;
    for (int k = 0; k < 8; ++k) {
      const std::int32_t* const children = nodes_.data() + 8 * std::size_t(entry);
      self(self, children[k], k < 7 ? first_leaf(children[k + 1]) : after,
           {at[0] + (k >> 2 & 1) * half, at[1] + (k >> 1 & 1) * half, at[2] + (k & 1) * half}, half);
    }
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const bool upper : {false, true}) {
      for (std::size_t k = 0; k < 3; ++k) low[k] = corner(leaf)[k], high[k] = low[k] + side;
      low[axis] += upper ? side : -1;
      if (periodic) low[axis] = (low[axis] + root) % root;
      high[axis] = low[axis] + 1;
      if (low[axis] >= 0 && low[axis] < root) visit(visit, nodes_.empty() ? -1 : 0, leaves(), {0, 0, 0}, root);
    }
  }
}

/// The node of leaves that fill a cube, or ~leaf.
std::int32_t OctreeTree::build(std::size_t first, std::size_t end, int level, const Corner& corner) {
  if (end - first == 1) return -1 - std::int32_t(first);
  const auto node = std::int32_t(firsts_.size());
  firsts_.push_back(std::int32_t(first)), nodes_.resize(nodes_.size() + 8);
  const std::int32_t half = std::int32_t(1) << (depth_ - level - 1);
  std::size_t at = first;
  for (int k = 0; k < 8; ++k) {
    const Corner child{corner[0] + (k >> 2 & 1) * half, corner[1] + (k >> 1 & 1) * half, corner[2] + (k & 1) * half};
    const auto inside = [&](const Corner& c) {
      return ((c[0] ^ child[0]) | (c[1] ^ child[1]) | (c[2] ^ child[2])) < half;
    };
    const auto next =
        std::partition_point(corner_.begin() + std::ptrdiff_t(at), corner_.begin() + std::ptrdiff_t(end), inside);
    const auto last = std::size_t(next - corner_.begin());
    const std::int32_t found = build(at, last, level + 1, child);
    nodes_[8 * std::size_t(node) + std::size_t(k)] = found;
    at = last;
  }
  return node;
}

/// Of a level that has a third as many places as there are leaves, or fewer.
void OctreeTree::build_table() {
  while (table_depth_ < std::min(depth_, 7) && std::int64_t(3) << (3 * (table_depth_ + 1)) <= leaves()) ++table_depth_;
  const int t = table_depth_;
  const std::int32_t side = std::int32_t(1) << t;
  table_.reserve(std::size_t(2) << (3 * t));
  for (std::int32_t x = 0; x < side; ++x) {
    for (std::int32_t y = 0; y < side; ++y) {
      for (std::int32_t z = 0; z < side; ++z) {
        std::int32_t entry = nodes_.empty() ? -1 : 0;
        int level = 0;
        for (; level < t && entry >= 0; ++level) {
          const int bit = t - 1 - level;
          const int k = (x >> bit & 1) * 4 + (y >> bit & 1) * 2 + (z >> bit & 1);
          entry = nodes_[8 * std::size_t(entry) + std::size_t(k)];
        }
        table_.push_back(entry), table_.push_back(std::int32_t(1) << (depth_ - level));
      }
    }
  }
}

std::array<std::int32_t, 3> OctreeTree::centre(std::int64_t leaf) const {
  Corner found = corner(leaf);
  for (std::int32_t& k : found) k = 2 * k + width(leaf);
  return found;
}

std::int64_t OctreeTree::bytes() const { return std::int64_t(4 * (table_.size() + nodes_.size() + firsts_.size())); }

Octree<double> OctreeTree::view() const {
  Octree<double> tree{};
  tree.table = {table_.data(), table_.size()};
  tree.nodes = {nodes_.data(), nodes_.size()};
  tree.firsts = {firsts_.data(), firsts_.size()};
  tree.depth = depth_, tree.table_depth = table_depth_;
  return tree;
}

}  // namespace thor
