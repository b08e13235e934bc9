#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "thor/datasets/voronoi_cell.hpp"
#include "thor/datasets/voronoi_sites.hpp"

namespace thor {

/// Cuts the cells of the sites of one group of the tree after the other. Leaves near the group are listed once for all
/// of its sites. Each cell is cut by the sites of those, about in the order of their distance, and then by all others
/// that could cut it.
class VoronoiSearch {
 public:
  VoronoiSearch(const VoronoiSites& sites, const VoronoiTree& tree);

  void start_group(std::uint32_t group);
  /// Makes the cell of a site of that group.
  void cut(std::uint32_t site, VoronoiCell& cell);

 private:
  struct Image {
    std::array<double, 3> shift;
    std::int8_t number;
  };
  /// A node of the tree, moved by an image, in the order of squared distance from the group.
  struct Step {
    double away2;
    std::uint32_t image, node;
    bool operator>(const Step& other) const {
      if (away2 != other.away2) return away2 > other.away2;
      return image != other.image ? image > other.image : node > other.node;
    }
  };
  /// Listed leaves, moved by images.
  struct Near {
    std::uint32_t image, node;
  };
  struct alignas(32) FourBoxes {
    std::array<VoronoiFour, 3> centre, half;
  };
  /// A site near the one at hand.
  struct Candidate {
    std::array<double, 3> d;
    double d2;
    std::uint32_t site;
    std::int8_t image;
    std::uint8_t bin;  // of d2
  };

  double away2(const VoronoiTree::Node& from, const Image& image, const VoronoiTree::Node& to) const;
  void push(std::uint32_t image, std::uint32_t node);
  void list_more(std::size_t leaves);
  void list(const Step& step);
  void pick_sites(const std::array<double, 3>& from, const Near& near, double least2, double most2);
  void pick(const std::array<double, 3>& from, std::size_t first, double least2, double most2);
  void sort_by_bins();
  void cut_by_near(std::uint32_t site, std::size_t first, VoronoiCell& cell);
  void cut_by_rest(std::uint32_t site, VoronoiCell& cell);
  bool is_possible(const std::array<double, 3>& d) const;
  bool is_needed(const VoronoiCell& cell, const std::array<double, 3>& from, const Step& step) const;

  const VoronoiSites& sites_;
  const VoronoiTree& tree_;
  std::vector<Image> images_;
  const VoronoiTree::Node* group_ = nullptr;
  std::vector<Step> heap_, todo_;
  Step next_{};          // the first node that is not listed
  bool is_all_ = false;  // all are listed
  std::vector<Near> near_;
  std::vector<FourBoxes> boxes_;       // of those
  std::vector<Candidate> candidates_;  // the first of them are picked
  std::size_t picked_ = 0;
  std::vector<std::uint32_t> order_;
  double expected2_ = 0;  // squared distance up to which sites mattered to the last cell
};

}  // namespace thor
