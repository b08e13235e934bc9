#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace thor {

/// Sites in whole units, so that differences and images are exact: a unit is 2^-51 of the power of two above the
/// longest side of the box, so that halves of it are exact, too. In Morton order, without duplicates.
struct VoronoiSites {
  std::vector<std::array<double, 3>> at;  // from the low corner
  std::vector<std::uint32_t> site_of;     // of those that were given
  std::array<double, 3> sides{};
  double unit = 0;
  bool periodic = false;

  /// Error(input) that begins with `name` if sites or the box are bad.
  VoronoiSites(const std::string& name, const std::vector<std::array<double, 3>>& sites,
               const std::array<double, 3>& low, const std::array<double, 3>& size, bool periodic, int threads);
};

/// A binary tree over sites: parts of their Morton order, halved at the highest bit in which coordinates differ.
class VoronoiTree {
 public:
  struct Node {
    std::array<double, 3> centre, half;  // of the least box around its sites, in halves of a unit: exact
    std::uint32_t first, count;          // sites
    std::uint32_t right;                 // the second child; the first one is the next node; 0 of leaves
  };

  explicit VoronoiTree(const VoronoiSites& sites);

  const Node& node(std::size_t k) const { return nodes_[k]; }
  /// Nodes of a few tens of sites, in the order of their sites, of which each is in one of them.
  const std::vector<std::uint32_t>& groups() const { return groups_; }

 private:
  void build(const VoronoiSites& sites, std::size_t first, std::size_t end, bool is_in_group);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> groups_;
};

}  // namespace thor
