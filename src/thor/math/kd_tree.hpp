#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace thor {

/// A k-d tree of points in open space or in a periodic box. The median of a range of points splits it along its longest
/// side; the tree is that order of the points and nothing else.
class KdTree {
 public:
  using Point = std::array<double, 3>;
  static constexpr double open = std::numeric_limits<double>::infinity();

  /// `period` is the side of the box along each axis, in which all points lie, or `open`. At most 2^32 - 1 points.
  explicit KdTree(std::vector<Point> points, int threads = 1, Point period = {open, open, open});

  struct Neighbour {
    std::uint32_t point = 0;  ///< index of the point as it was given
    double distance2 = open;
  };
  /// The nearest point; of several at the same distance the one of the lowest index.
  Neighbour nearest(const Point& place) const;

  /// Squared distance to the k-th nearest point, k from 1 to size(). `scratch` saves an allocation per call.
  double kth_distance2(const Point& place, std::size_t k, std::vector<double>& scratch) const;

  /// The points in the order of the tree, in which those that follow each other are close, and their indices.
  std::span<const Point> points() const { return points_; }
  std::span<const std::uint32_t> indices() const { return index_; }
  std::size_t size() const { return points_.size(); }

 private:
  struct Box {
    Point low, high;
  };
  Box bounds(std::size_t begin, std::size_t end) const;
  void build(std::size_t begin, std::size_t end, int threads);
  double distance2(const Point& a, const Point& b) const;
  double distance2(const Box& box, const Point& place) const;
  template <class Best>
  void search(std::size_t begin, std::size_t end, const Box& box, const Point& place, Best& best) const;

  std::vector<Point> points_;
  std::vector<std::uint32_t> index_;
  std::vector<unsigned char> axis_;  ///< along which the median of a range splits it
  Point period_;
  Box box_;
};

}  // namespace thor
