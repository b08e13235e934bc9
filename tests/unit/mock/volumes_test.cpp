#include "thor/mock/volumes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace thor::mock {
namespace {

std::vector<Vector> points(std::size_t count, double clustered) {
  std::vector<Vector> result;
  for (std::size_t i = 0; i < count; ++i) {
    Draw draw(3, Use::disc, i);
    const bool near = draw.uniform() < clustered;
    Vector p{};
    for (double& x : p) x = near ? 0.02 * draw.uniform() : draw.uniform();
    result.push_back(p);
  }
  return result;
}

double kth_by_search(const std::vector<Vector>& all, std::size_t i, int k, bool periodic) {
  std::vector<double> distances;
  for (const Vector& p : all) {
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      double gap = std::abs(p[d] - all[i][d]);
      if (periodic) gap = std::min(gap, 1 - gap);
      sum += gap * gap;
    }
    distances.push_back(std::sqrt(sum));
  }
  std::nth_element(distances.begin(), distances.begin() + k, distances.end());
  return distances[std::size_t(k)];
}

TEST(Volumes, AreThoseOfASearchThroughAllPoints) {
  const auto all = points(1500, 0.3);
  const auto room = volumes(all, 1, 20, 1);
  int not_periodic = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto volume = [&](bool periodic) {
      return 4 * constants::pi / 3 * std::pow(kth_by_search(all, i, 20, periodic), 3) / 20;
    };
    EXPECT_NEAR(room[i] / volume(true), 1, 1e-12);
    not_periodic += std::abs(room[i] / volume(false) - 1) > 1e-6;
  }
  EXPECT_GT(not_periodic, 100) << "without the images of the cube the result would differ";
}

TEST(Volumes, OfRandomPointsFillTheCube) {
  const auto all = points(20000, 0);
  const auto sum = [&](int k) {
    const auto room = volumes(all, 1, k, 1);
    return std::accumulate(room.begin(), room.end(), 0.);
  };
  EXPECT_NEAR(sum(32), 1, 0.02);
  EXPECT_GT(sum(16) * 16 / 15 - 1, 0.02) << "k - 1 in place of k would not";
}

TEST(Volumes, AreTheSameForAnyNumberOfThreads) {
  const auto all = points(5000, 0.5);
  EXPECT_EQ(volumes(all, 1, 32, 1), volumes(all, 1, 32, 3));
}

}  // namespace
}  // namespace thor::mock
