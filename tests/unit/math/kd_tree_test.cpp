#include "thor/math/kd_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace thor {
namespace {

using Point = KdTree::Point;
constexpr Point side{1, 2, 0.5};
constexpr Point open{KdTree::open, KdTree::open, KdTree::open};

/// Points in a box, half of them crowded in a corner.
std::vector<Point> some_points(std::size_t count, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  std::vector<Point> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t a = 0; a < 3; ++a) points[i][a] = (i % 2 ? 1 : 0.1) * uniform(generator) * side[a];
  }
  return points;
}

/// Squared distance and index of all points, nearest first.
std::vector<std::pair<double, std::uint32_t>> search_all(const std::vector<Point>& points, const Point& place,
                                                         const Point& period) {
  std::vector<std::pair<double, std::uint32_t>> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double gap = std::abs(points[i][a] - place[a]);
      sum += std::pow(std::min(gap, period[a] - gap), 2);
    }
    found.emplace_back(sum, std::uint32_t(i));
  }
  std::ranges::sort(found);
  return found;
}

TEST(KdTree, FindsWhatASearchThroughAllPointsFinds) {
  const std::vector<Point> points = some_points(500, 1);
  std::vector<double> scratch;
  int differ = 0;
  for (const Point& period : {open, side}) {
    const KdTree tree(points, 3, period);
    for (const Point& place : some_points(300, 2)) {
      const auto truth = search_all(points, place, period);
      const KdTree::Neighbour found = tree.nearest(place);
      EXPECT_EQ(found.point, truth[0].second);
      EXPECT_EQ(found.distance2, truth[0].first);
      for (const std::size_t k : {1, 7, 32, 500}) EXPECT_EQ(tree.kth_distance2(place, k, scratch), truth[k - 1].first);
      differ += truth[0].second != search_all(points, place, period == open ? side : open)[0].second;
    }
  }
  EXPECT_GT(differ, 20) << "the other boundary has other neighbours";
}

TEST(KdTree, OfPointsAtTheSameDistanceTheFirstIsFound) {
  const KdTree equal(std::vector<Point>(1000, {1., 2., 3.}), 4);
  const auto found = equal.nearest({1, 2, 4});
  EXPECT_EQ(found.distance2, 1);
  EXPECT_EQ(found.point, 0u);

  std::vector<Point> lattice;  // in which every corner of a cell has eight neighbours
  for (int i = 0; i < 512; ++i) lattice.push_back({double(i % 8), double(i / 8 % 8), double(i / 64)});
  std::ranges::reverse(lattice);
  for (const Point& period : {open, {8, 8, 8}}) {
    const KdTree tree(lattice, 1, period);
    for (const Point& corner : {Point{3.5, 3.5, 3.5}, {0.5, 6.5, 2.5}, {7.5, 7.5, 7.5}}) {
      EXPECT_EQ(tree.nearest(corner).point, search_all(lattice, corner, period)[0].second);
    }
  }
}

TEST(KdTree, KeepsThePointsWithTheirIndices) {
  const std::vector<Point> points = some_points(100, 3);
  const KdTree tree(points, 2);
  ASSERT_EQ(tree.size(), points.size());
  for (std::size_t i = 0; i < tree.size(); ++i) EXPECT_EQ(tree.points()[i], points[tree.indices()[i]]);
}

}  // namespace
}  // namespace thor
