#include "thor/math/kd_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

namespace thor {
namespace {

constexpr std::size_t leaf = 8;

struct Nearest {
  KdTree::Neighbour found{};

  double farthest() const { return found.distance2; }
  void offer(std::uint32_t index, double distance2) {
    const bool nearer = distance2 < found.distance2 || (distance2 == found.distance2 && index < found.point);
    if (nearer) found = {index, distance2};
  }
};

struct KNearest {
  std::size_t k;
  std::vector<double>& heap;  ///< squared distances, the largest in front

  double farthest() const { return heap.size() < k ? double(KdTree::open) : heap.front(); }
  void offer(std::uint32_t, double distance2) {
    if (heap.size() == k) {
      if (distance2 >= heap.front()) return;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
    heap.push_back(distance2);
    std::push_heap(heap.begin(), heap.end());
  }
};

}  // namespace

KdTree::KdTree(std::vector<Point> points, int threads, Point period)
    : points_(std::move(points)), index_(points_.size()), axis_(points_.size(), 0), period_(period) {
  std::iota(index_.begin(), index_.end(), 0u);
  box_ = bounds(0, points_.size());
  build(0, points_.size(), threads);  // sorts the indices
  std::vector<Point> sorted(points_.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = points_[index_[i]];
  points_ = std::move(sorted);
}

KdTree::Box KdTree::bounds(std::size_t begin, std::size_t end) const {
  Box box;
  box.low.fill(open), box.high.fill(-open);
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      box.low[a] = std::min(box.low[a], points_[index_[i]][a]);
      box.high[a] = std::max(box.high[a], points_[index_[i]][a]);
    }
  }
  return box;
}

void KdTree::build(std::size_t begin, std::size_t end, int threads) {
  if (end - begin <= leaf) return;
  const Box box = bounds(begin, end);
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (box.high[a] - box.low[a] > box.high[axis] - box.low[axis]) axis = a;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto at = [&](std::size_t i) { return index_.begin() + std::ptrdiff_t(i); };
  std::nth_element(at(begin), at(middle), at(end),
                   [&](std::uint32_t a, std::uint32_t b) { return points_[a][axis] < points_[b][axis]; });
  axis_[middle] = static_cast<unsigned char>(axis);
  if (threads > 1) {
    const std::jthread other([&] { build(begin, middle, threads / 2); });
    build(middle + 1, end, threads - threads / 2);
  } else {
    build(begin, middle, 1);
    build(middle + 1, end, 1);
  }
}

double KdTree::distance2(const Point& a, const Point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double gap = std::abs(a[i] - b[i]), shorter = std::min(gap, period_[i] - gap);
    sum += shorter * shorter;
  }
  return sum;
}

/// The operations are those of the distance between two points, so that rounding never makes it larger than the
/// distance to a point in the box.
double KdTree::distance2(const Box& box, const Point& place) const {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double below = box.low[i] - place[i], above = place[i] - box.high[i];
    if (below <= 0 && above <= 0) continue;
    const double gap = below > 0 ? std::min(below, period_[i] - (box.high[i] - place[i]))
                                 : std::min(above, period_[i] - (place[i] - box.low[i]));
    sum += gap * gap;
  }
  return sum;
}

template <class Best>
void KdTree::search(std::size_t begin, std::size_t end, const Box& box, const Point& place, Best& best) const {
  if (end - begin <= leaf) {
    for (std::size_t i = begin; i < end; ++i) best.offer(index_[i], distance2(points_[i], place));
    return;
  }
  const std::size_t middle = begin + (end - begin) / 2, axis = axis_[middle];
  best.offer(index_[middle], distance2(points_[middle], place));
  Box lower = box, upper = box;
  lower.high[axis] = upper.low[axis] = points_[middle][axis];
  const double to_lower = distance2(lower, place), to_upper = distance2(upper, place);
  const auto search_lower = [&] {
    if (to_lower <= best.farthest()) search(begin, middle, lower, place, best);
  };
  const auto search_upper = [&] {
    if (to_upper <= best.farthest()) search(middle + 1, end, upper, place, best);
  };
  if (to_lower < to_upper) {
    search_lower(), search_upper();
  } else {
    search_upper(), search_lower();
  }
}

KdTree::Neighbour KdTree::nearest(const Point& place) const {
  Nearest best;
  search(0, points_.size(), box_, place, best);
  return best.found;
}

double KdTree::kth_distance2(const Point& place, std::size_t k, std::vector<double>& scratch) const {
  scratch.clear();
  KNearest best{k, scratch};
  search(0, points_.size(), box_, place, best);
  return scratch.front();
}

}  // namespace thor
