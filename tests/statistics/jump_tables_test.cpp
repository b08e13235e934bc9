// The tables of sphere jumps against exact histories that are made anew.
#include <gtest/gtest.h>

#include <cmath>

#include "support/statistics.hpp"
#include "thor/drivers/mcrt/jump_histories.hpp"

namespace {

using namespace thor;

struct Sample {
  std::vector<double> x, path, scatterings, mu, last;
};

Sample exact(double a, double depth, int count) {
  Sample s;
  for (const SphereExit& e : sphere_exits(a, depth, std::uint64_t(count), 77, {nullptr, {}, {2, false, ""}})) {
    s.x.push_back(std::abs(double(e.x))), s.path.push_back(double(e.path) / depth);
    s.scatterings.push_back(double(e.scatterings)), s.mu.push_back(double(e.mu)), s.last.push_back(double(e.last));
  }
  return s;
}

Sample from_tables(double a, double depth, int count) {
  static const JumpTables tables = JumpTables::built_in();
  const auto data = tables.view<float>(99);
  const auto jumps = view<float>(data);
  const auto place = jumps.place(float(depth * 1.0001), float(a));
  EXPECT_TRUE(place.exists);
  auto random = xoshiro<float>(stream_key(5, 1));
  Sample s;
  for (int i = 0; i < count; ++i) {
    const auto first = random.next(), second = random.next(), third = random.next(), fourth = random.next();
    const auto draw = jumps.draw(place, first, second, third, fourth);
    s.x.push_back(std::abs(double(draw.x))), s.path.push_back(double(draw.path_factor));
    s.scatterings.push_back(double(draw.scatterings)), s.mu.push_back(double(draw.mu));
    s.last.push_back(double(draw.last));
  }
  return s;
}

void expect_same_mean(const std::vector<double>& a, const std::vector<double>& b, double tolerance, const char* what) {
  const auto m = test::moments(a), n = test::moments(b);
  EXPECT_NEAR(n.mean / m.mean, 1, tolerance + 4 * std::hypot(m.error / m.mean, n.error / n.mean)) << what;
}

struct Node {
  double a, depth;
  int photons;
  friend void PrintTo(const Node& n, std::ostream* out) { *out << "a " << n.a << ", tau " << n.depth; }
};
class TablesOfJumps : public testing::TestWithParam<Node> {};
TEST_P(TablesOfJumps, AreThoseOfExactHistories) {
  const auto [a, depth, photons] = GetParam();
  const Sample truth = exact(a, depth, photons), table = from_tables(a, depth, 4 * photons);
  const double n = 0.8 * photons;
  EXPECT_GT(test::ks_p(test::ks_distance(truth.x, table.x), n), 0.001);
  EXPECT_LT(test::ks_distance(truth.mu, table.mu), 0.01 + 1.63 / std::sqrt(n));
  EXPECT_LT(test::ks_distance(truth.path, table.path), 0.01 + 1.63 / std::sqrt(n));
  expect_same_mean(truth.x, table.x, 0.003, "frequency");
  expect_same_mean(truth.path, table.path, 0.005, "path");
  expect_same_mean(truth.scatterings, table.scatterings, 0.005, "scatterings");
  expect_same_mean(truth.mu, table.mu, 0.003, "angle");
  expect_same_mean(truth.last, table.last, 0.01, "last flight");
  for (std::size_t i = 0; i < table.last.size(); ++i) {
    ASSERT_LE(table.last[i], 2 * table.mu[i] * 1.00001) << "a last flight longer than the chord begins outside";
  }
  const Sample wrong = from_tables(a, depth * std::sqrt(10.), 4 * photons);
  EXPECT_LT(test::ks_p(test::ks_distance(truth.x, wrong.x), n), 1e-6) << "the next table must not pass";
}
// Voigt parameters midway between nodes and near them; depths at nodes.
INSTANTIATE_TEST_SUITE_P(Nodes, TablesOfJumps,
                         testing::Values(Node{4.7e-4, 30, 40000}, Node{4.7e-4, 30 * std::sqrt(10.), 40000},
                                         Node{1.3e-3, 300, 40000}, Node{2.4e-5, 300, 40000}, Node{0.013, 300, 40000},
                                         Node{4.7e-4, 300 * std::sqrt(10.), 30000},
                                         Node{6e-3, 300 * std::sqrt(10.), 30000}));

// Between nodes the mean path is the cubic interpolation of its logarithm, not the mean of both neighbours', which is 1
// % more where the path has its minimum over a.
TEST(TablesOfJumps, InterpolateTheMeanPath) {
  constexpr double depth = 3e4, ratio = 1.7782794100389228;  // of neighbouring nodes
  constexpr int count = 1'000'000;
  double log_path[4], path[4];
  for (int i = 0; i < 4; ++i) {
    path[i] = test::moments(from_tables(1e-3 * std::pow(ratio, i) * 1.00001, depth, count).path).mean;
    log_path[i] = std::log(path[i]);
  }
  const double cubic = std::exp((9 * (log_path[1] + log_path[2]) - log_path[0] - log_path[3]) / 16);
  const auto between = test::moments(from_tables(1e-3 * std::pow(ratio, 1.5), depth, count).path);
  EXPECT_NEAR(between.mean / cubic, 1, 0.003);
  EXPECT_GT((path[1] + path[2]) / 2 / cubic, 1.006) << "or the test says nothing";
}

}  // namespace
