#include "thor/mock/nearest.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <thread>

namespace thor::mock {
namespace {

/// A k-d tree: every node halves its points along its longest side.
class Tree {
 public:
  Tree(std::span<const Vector> points, double box) : points_(points), box_(box), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    build(0, order_.size());
    sorted_.reserve(order_.size());
    for (const auto i : order_) sorted_.push_back(points[i]);
  }

  std::size_t point(std::size_t place) const { return order_[place]; }

  /// Squared distance from the point at `place`, in the order of the tree, to its k-th neighbour.
  double kth(std::size_t place, int k, std::vector<double>& nearest) const {
    nearest.clear();
    search(0, sorted_[place], std::size_t(k) + 1, nearest);  // + 1 since it finds itself
    return nearest.front();
  }

 private:
  static constexpr std::size_t leaf = 12;
  struct Node {
    Vector low, high;
    std::size_t first, last, left = 0, right = 0;
  };

  std::size_t build(std::size_t first, std::size_t last) {
    const std::size_t index = nodes_.size();
    Node node{points_[order_[first]], points_[order_[first]], first, last};
    for (std::size_t i = first; i < last; ++i) {
      for (int d = 0; d < 3; ++d) {
        node.low[d] = std::min(node.low[d], points_[order_[i]][d]);
        node.high[d] = std::max(node.high[d], points_[order_[i]][d]);
      }
    }
    nodes_.push_back(node);
    if (last - first <= leaf) return index;
    int axis = 0;
    for (int d = 1; d < 3; ++d) {
      if (node.high[d] - node.low[d] > node.high[axis] - node.low[axis]) axis = d;
    }
    const std::size_t middle = (first + last) / 2;
    std::nth_element(order_.begin() + std::ptrdiff_t(first), order_.begin() + std::ptrdiff_t(middle),
                     order_.begin() + std::ptrdiff_t(last),
                     [&](unsigned a, unsigned b) { return points_[a][axis] < points_[b][axis]; });
    const std::size_t left = build(first, middle), right = build(middle, last);
    nodes_[index].left = left, nodes_[index].right = right;
    return index;
  }

  /// Squared distance from x to the nearest image of the node's box.
  double distance2(const Node& node, const Vector& x) const {
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      const double below = node.low[d] - x[d], above = x[d] - node.high[d];
      if (below <= 0 && above <= 0) continue;
      const double gap =
          below > 0 ? std::min(below, box_ - node.high[d] + x[d]) : std::min(above, box_ - x[d] + node.low[d]);
      sum += gap * gap;
    }
    return sum;
  }

  void search(std::size_t index, const Vector& x, std::size_t count, std::vector<double>& heap) const {
    const Node& node = nodes_[index];
    if (node.left == 0) {
      for (std::size_t i = node.first; i < node.last; ++i) {
        double sum = 0;
        for (int d = 0; d < 3; ++d) {
          const double gap = std::abs(sorted_[i][d] - x[d]), short_way = std::min(gap, box_ - gap);
          sum += short_way * short_way;
        }
        if (heap.size() == count) {
          if (sum >= heap.front()) continue;
          std::pop_heap(heap.begin(), heap.end());
          heap.pop_back();
        }
        heap.push_back(sum);
        std::push_heap(heap.begin(), heap.end());
      }
      return;
    }
    std::size_t near = node.left, far = node.right;
    double to_near = distance2(nodes_[near], x), to_far = distance2(nodes_[far], x);
    if (to_far < to_near) std::swap(near, far), std::swap(to_near, to_far);
    if (heap.size() < count || to_near < heap.front()) search(near, x, count, heap);
    if (heap.size() < count || to_far < heap.front()) search(far, x, count, heap);
  }

  std::span<const Vector> points_;
  double box_;
  std::vector<unsigned> order_;
  std::vector<Vector> sorted_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<double> volumes(std::span<const Vector> points, double box, int k, int threads) {
  const Tree tree(points, box);
  std::vector<double> result(points.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    constexpr std::size_t batch = 1024;
    std::vector<double> nearest;
    for (std::size_t first; (first = next.fetch_add(batch)) < points.size();) {
      for (std::size_t i = first; i < std::min(first + batch, points.size()); ++i) {
        result[tree.point(i)] = 4 * constants::pi / 3 * std::pow(tree.kth(i, k, nearest), 1.5) / k;
      }
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  return result;
}

}  // namespace thor::mock
