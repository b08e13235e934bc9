#include "thor/transport/fuse.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/statistics.hpp"

namespace fuse_test {

using namespace thor;

constexpr FuseRules rules{1, 2};

Event<double> event_of(int steps) {
  Event<double> event{};
  event.kind = EventKind::by_line, event.steps = steps;
  return event;
}
FuseGroup<double> opened(std::uint64_t id = 7) {
  FuseGroup<double> group{};
  open_group(group, event_of(0), 10., {0, 0, 0}, id, 3.);
  return group;
}
bool joins(FuseGroup<double>& group, double frequency, double place, std::uint64_t id = 7) {
  return join_group(group, rules, event_of(1), frequency, {0, place, 0}, {1, id, 1, 0});
}

TEST(FuseGroup, TakesWhatIsNearItsFirstMember) {
  auto group = opened();
  EXPECT_TRUE(joins(group, 10.9, 1.9));
  EXPECT_TRUE(joins(group, 9.1, -1.9)) << "not near the second one, which does not matter";
  EXPECT_EQ(group.count, 3u);
  EXPECT_FALSE(joins(group, 11.1, 0)) << "another frequency";
  EXPECT_FALSE(joins(group, 10, 2.1)) << "another place";
  EXPECT_FALSE(joins(group, 10, 0, 8)) << "another photon";
  EXPECT_FALSE(joins(group, std::numeric_limits<double>::quiet_NaN(), 0));
  EXPECT_EQ(group.count, 3u);
  group.count = FuseGroup<double>::most;
  EXPECT_FALSE(joins(group, 10, 0)) << "full";
  FuseGroup<double> closed{};
  closed.id = 7;
  EXPECT_FALSE(joins(closed, 0, 0)) << "none is open";
}

/// Each member is drawn as often as any other, so that the mean of n w_J is the sum of all w, also where w depends on
/// the order.
TEST(FuseGroup, DrawsEachMemberWithTheSameChance) {
  constexpr int members = 12, groups = 60000;
  std::vector<double> drawn(members);
  double light = 0, squares = 0, of_first = 0;
  const auto weight = [](int member) { return 1. / (1 + member * member); };
  for (std::uint64_t id = 0; id < groups; ++id) {
    auto group = opened(id);
    for (int n = 1; n < members; ++n) {
      ASSERT_TRUE(join_group(group, rules, event_of(n), 10., {0, 0, 0}, {1, id, std::uint64_t(n), 2}));
    }
    ASSERT_EQ(group.count, std::uint32_t(members));
    ++drawn[std::size_t(group.drawn.steps)];
    const double sent = members * weight(int(group.drawn.steps));
    light += sent, squares += sent * sent, of_first += members * weight(0);
  }
  double chi2 = 0, sum = 0;
  for (int n = 0; n < members; ++n) {
    const double expected = double(groups) / members;
    chi2 += std::pow(drawn[std::size_t(n)] - expected, 2) / expected;
    sum += weight(n);
  }
  EXPECT_GT(test::chi_square_p(chi2, members - 1), 1e-3);
  const double mean = light / groups, error = std::sqrt((squares / groups - mean * mean) / groups);
  EXPECT_NEAR(mean, sum, 4 * error);
  EXPECT_GT(std::abs(of_first / groups - sum), 100 * error) << "a twin: the first member";
  EXPECT_GT(std::abs(mean / members - sum), 100 * error) << "a twin: the light of one member";
}

TEST(FuseGroup, DrawsForEachPhotonSeedAndObserver) {
  const auto pattern = [](RayKey key) {
    std::uint64_t bits = 0;
    for (key.event = 0; key.event < 64; ++key.event) bits = bits << 1 | replaces(key, 2);
    return bits;
  };
  const std::uint64_t one = pattern({1, 2, 0, 3});
  EXPECT_EQ(one, pattern({1, 2, 0, 3}));
  EXPECT_NE(one, pattern({2, 2, 0, 3}));
  EXPECT_NE(one, pattern({1, 3, 0, 3}));
  EXPECT_NE(one, pattern({1, 2, 0, 4}));
}

}  // namespace fuse_test
