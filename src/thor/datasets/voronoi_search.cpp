#include "thor/datasets/voronoi_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "thor/core/target.hpp"
#include "thor/math/vector.hpp"

namespace thor {
namespace {

using Point = std::array<double, 3>;
constexpr std::size_t near_leaves = 128, more_leaves = 32, most_leaves = 256;  // listed: at first, each time, in all
constexpr int bins = 64, bins_per_octave = 4;                                  // of squared distance

/// From 0 for the farthest: exponent and first bits of the mantissa, below those of `most2`.
std::uint8_t bin_of(double d2, double most2) {
  constexpr int shift = 52 - std::countr_zero(unsigned(bins_per_octave));
  const auto below = std::int64_t(std::bit_cast<std::uint64_t>(most2) >> shift) -
                     std::int64_t(std::bit_cast<std::uint64_t>(d2) >> shift);
  return std::uint8_t(std::clamp(below, std::int64_t(0), std::int64_t(bins - 1)));
}

}  // namespace

VoronoiSearch::VoronoiSearch(const VoronoiSites& sites, const VoronoiTree& tree) : sites_(sites), tree_(tree) {
  const int most = sites.periodic ? 1 : 0;
  for (int x = -most; x <= most; ++x) {
    for (int y = -most; y <= most; ++y) {
      for (int z = -most; z <= most; ++z) {
        const Point shift{x * sites.sides[0], y * sites.sides[1], z * sites.sides[2]};
        images_.push_back({shift, std::int8_t(9 * x + 3 * y + z)});
      }
    }
  }
}

/// The squared distance of two boxes.
double VoronoiSearch::away2(const VoronoiTree::Node& from, const Image& image, const VoronoiTree::Node& to) const {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double gap = std::abs(to.centre[k] + image.shift[k] - from.centre[k]) - to.half[k] - from.half[k];
    const double away = std::max(0., gap);
    sum += away * away;
  }
  return sum;
}

void VoronoiSearch::push(std::uint32_t image, std::uint32_t node) {
  heap_.push_back({away2(*group_, images_[image], tree_.node(node)), image, node});
  std::ranges::push_heap(heap_, std::greater{});
}

void VoronoiSearch::start_group(std::uint32_t group) {
  group_ = &tree_.node(group);
  heap_.clear(), near_.clear(), boxes_.clear();
  for (std::uint32_t image = 0; image < images_.size(); ++image) push(image, 0);
  list_more(near_leaves);
  expected2_ = next_.away2;
}

void VoronoiSearch::list(const Step& step) {
  constexpr double nowhere = 1e100;
  const std::size_t lane = near_.size() % 4;
  const VoronoiTree::Node& leaf = tree_.node(step.node);
  const Point& shift = images_[step.image].shift;
  if (lane == 0) boxes_.push_back({});
  FourBoxes& boxes = boxes_.back();
  for (std::size_t k = 0; k < 3; ++k) {
    if (lane == 0) boxes.centre[k] = VoronoiFour{} + nowhere;
    boxes.centre[k][lane] = leaf.centre[k] + shift[k], boxes.half[k][lane] = leaf.half[k];
  }
  near_.push_back({step.image, step.node});
}

/// Lists the next leaves.
void VoronoiSearch::list_more(std::size_t leaves) {
  const std::size_t enough = near_.size() + leaves;
  while (!heap_.empty() && near_.size() < enough) {
    std::ranges::pop_heap(heap_, std::greater{});
    const Step step = heap_.back();
    heap_.pop_back();
    const VoronoiTree::Node& node = tree_.node(step.node);
    if (node.right == 0) {
      list(step);
    } else {
      push(step.image, step.node + 1), push(step.image, node.right);
    }
  }
  is_all_ = heap_.empty();
  next_ = is_all_ ? Step{} : heap_.front();
}

THOR_ALSO_AVX2 void VoronoiSearch::cut(std::uint32_t site, VoronoiCell& cell) {
  const Point& from = sites_.at[site];
  if (sites_.periodic) {
    cell.start_periodic(std::int32_t(site), sites_.sides);
  } else {
    Point high{};
    for (std::size_t k = 0; k < 3; ++k) high[k] = sites_.sides[k] - from[k];
    cell.start_open(from, high);
  }
  cut_by_near(site, 0, cell);
  const auto is_open = [&] { return !is_all_ && next_.away2 <= cell.security2(); };
  while (is_open() && near_.size() < most_leaves) {
    const std::size_t listed = near_.size();
    list_more(more_leaves);
    cut_by_near(site, listed, cell);
  }
  if (is_open()) cut_by_rest(site, cell);
  expected2_ = cell.security2();
}

/// An image more than a side of the box away along an axis cuts nothing: the one that is a side nearer cuts off more.
bool VoronoiSearch::is_possible(const Point& d) const {
  const Point& sides = sites_.sides;
  return !sites_.periodic || (std::abs(d[0]) <= sides[0] && std::abs(d[1]) <= sides[1] && std::abs(d[2]) <= sides[2]);
}

void VoronoiSearch::pick_sites(const Point& from, const Near& near, double least2, double most2) {
  const VoronoiTree::Node& leaf = tree_.node(near.node);
  const Image& image = images_[near.image];
  if (candidates_.size() < picked_ + leaf.count) candidates_.resize(2 * (picked_ + leaf.count));
  for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
    const Point& p = sites_.at[i];
    Candidate& found = candidates_[picked_];
    for (std::size_t k = 0; k < 3; ++k) found.d[k] = p[k] + image.shift[k] - from[k];
    found.d2 = dot(found.d, found.d);
    found.site = i, found.image = image.number, found.bin = bin_of(found.d2, most2);
    picked_ += std::size_t(found.d2 > least2) & std::size_t(found.d2 <= most2);
  }
}

/// Finds the sites of listed leaves at squared distances above `least2`, up to `most2`.
void VoronoiSearch::pick(const Point& from, std::size_t first, double least2, double most2) {
  picked_ = 0;
  for (std::size_t block = first / 4; block < boxes_.size(); ++block) {
    const FourBoxes& boxes = boxes_[block];
    VoronoiFour sum{};
    for (std::size_t k = 0; k < 3; ++k) {
      const VoronoiFour apart = boxes.centre[k] - from[k];
      const VoronoiFour away = (apart < 0 ? -apart : apart) - boxes.half[k];
      sum += away > 0 ? away * away : VoronoiFour{};
    }
    const auto is_near = sum <= most2;
    if ((is_near[0] | is_near[1] | is_near[2] | is_near[3]) == 0) continue;
    for (std::size_t k = 0; k < 4; ++k) {
      if (is_near[k] != 0) pick_sites(from, near_[4 * block + k], least2, most2);
    }
  }
}

/// Sorts candidates by bins of distance, the nearest first.
void VoronoiSearch::sort_by_bins() {
  std::array<std::uint32_t, bins> count{};
  for (std::size_t i = 0; i < picked_; ++i) ++count[candidates_[i].bin];
  std::uint32_t sum = 0;
  for (std::size_t k = bins; k-- > 0;) sum += std::exchange(count[k], sum);
  order_.resize(picked_);
  for (std::size_t i = 0; i < picked_; ++i) order_[count[candidates_[i].bin]++] = std::uint32_t(i);
}

/// Cuts by the sites of leaves that are listed, from the given one on.
void VoronoiSearch::cut_by_near(std::uint32_t site, std::size_t first, VoronoiCell& cell) {
  double done2 = 0;  // that of the site itself
  while (done2 < cell.security2()) {
    const bool is_first = done2 == 0 && expected2_ > 0;
    const double to2 = is_first ? std::min(expected2_, cell.security2()) : cell.security2();
    pick(sites_.at[site], first, done2, to2), sort_by_bins();
    for (const std::uint32_t i : order_) {
      const Candidate& c = candidates_[i];
      if (c.d2 <= cell.security2() && is_possible(c.d)) cell.clip(c.d, std::int32_t(c.site), c.image);
    }
    done2 = to2;
  }
}

/// Whether the node has sites that are not listed and could cut.
bool VoronoiSearch::is_needed(const VoronoiCell& cell, const Point& from, const Step& step) const {
  const VoronoiTree::Node& node = tree_.node(step.node);
  const Point& shift = images_[step.image].shift;
  Point centre{};
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    centre[k] = node.centre[k] + shift[k] - from[k];
    const double away = std::max(0., std::abs(centre[k]) - node.half[k]);
    sum += away * away;
  }
  if (sum > cell.security2()) return false;
  if (node.right == 0 && next_ > Step{away2(*group_, images_[step.image], node), step.image, step.node}) return false;
  return cell.could_cut(centre, node.half);
}

void VoronoiSearch::cut_by_rest(std::uint32_t site, VoronoiCell& cell) {
  const Point& from = sites_.at[site];
  todo_.clear();
  for (std::uint32_t image = 0; image < images_.size(); ++image) todo_.push_back({0, image, 0});
  while (!todo_.empty()) {
    const Step step = todo_.back();
    todo_.pop_back();
    if (!is_needed(cell, from, step)) continue;
    const VoronoiTree::Node& node = tree_.node(step.node);
    const Point& shift = images_[step.image].shift;
    if (node.right != 0) {
      todo_.push_back({0, step.image, node.right}), todo_.push_back({0, step.image, step.node + 1});
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const Point& p = sites_.at[i];
      Point d{};
      for (std::size_t k = 0; k < 3; ++k) d[k] = p[k] + shift[k] - from[k];
      const bool is_itself = i == site && images_[step.image].number == 0;
      if (!is_itself && is_possible(d)) cell.clip(d, std::int32_t(i), images_[step.image].number);
    }
  }
}

}  // namespace thor
