#include "thor/comm/dealer.hpp"

#include <gtest/gtest.h>

namespace thor::comm {
namespace {

const World alone{World::Alone{}};

TEST(Dealer, GivesAProcessAloneAllAtOnce) {
  Dealer dealer(alone, {7, 1000});
  const Dealer::Window all = dealer.take();
  EXPECT_EQ(all.next, 7u);
  EXPECT_EQ(all.end, 1000u);
  const Dealer::Window nothing = dealer.take();
  EXPECT_EQ(nothing.next, nothing.end);
  const Dealer::Window rest = dealer.finish();
  EXPECT_EQ(rest.next, rest.end);
}

TEST(Dealer, GivesNothingAfterAStop) {
  Dealer dealer(alone, {0, 10});
  EXPECT_EQ(dealer.report(3, 0).stop, 0);
  const Dealer::News news = dealer.report(4, 2);
  EXPECT_EQ(news.finished, 7u);
  EXPECT_EQ(news.stop, 2);
  EXPECT_EQ(dealer.report(0, 3).stop, 2) << "max_time gives way to a limit";
  EXPECT_EQ(dealer.report(0, 1).stop, 1) << "which gives way to a signal";
  const Dealer::Window nothing = dealer.take();
  EXPECT_EQ(nothing.next, nothing.end);
  const Dealer::Window rest = dealer.finish();
  EXPECT_EQ(rest.next, 0u);
  EXPECT_EQ(rest.end, 10u);
}

TEST(Dealer, LetsNoMorePhotonsFlyThanItMay) {
  Dealer dealer(alone, {0, 10}, 4);
  Dealer::Window window = dealer.take();
  EXPECT_EQ(window.end - window.next, 4u);
  window = dealer.take();
  EXPECT_EQ(window.next, window.end);
  EXPECT_TRUE(window.more);
  dealer.report(Dealer::State{.finished = 3});
  window = dealer.take();
  EXPECT_EQ(window.next, 4u);
  EXPECT_EQ(window.end, 7u);
  dealer.report(Dealer::State{.finished = 7});
  window = dealer.take();
  EXPECT_EQ(window.end, 10u);
  EXPECT_FALSE(dealer.take().more);
}

TEST(Dealer, DealsNoMoreThanItMayBeforeAStop) {
  Dealer dealer(alone, {3, 10}, ~0ull, false, 4);
  const Dealer::Window window = dealer.take();
  EXPECT_EQ(window.next, 3u);
  EXPECT_EQ(window.end, 7u);
  const Dealer::Window held = dealer.take();
  EXPECT_EQ(held.next, held.end);
  EXPECT_TRUE(held.more);
  dealer.report(4, 1);
  EXPECT_FALSE(dealer.take().more);
  EXPECT_EQ(dealer.finish().next, 7u);
}

TEST(Dealer, IsDoneWhenNothingHasMovedBetweenTwoReports) {
  Dealer dealer(alone, {0, 2});
  const auto report = [&](std::uint64_t posted, std::uint64_t delivered, bool idle) {
    return dealer.report(Dealer::State{0, posted, delivered, 0, idle}).done;
  };
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(report(0, 0, true)) << "ids are left";
  dealer.take();
  EXPECT_FALSE(report(3, 2, true)) << "one is on its way";
  EXPECT_FALSE(report(3, 3, false)) << "not idle";
  EXPECT_FALSE(report(3, 3, true)) << "once";
  EXPECT_FALSE(report(4, 4, true)) << "something has moved";
  EXPECT_TRUE(report(4, 4, true));
  EXPECT_TRUE(report(4, 4, true)) << "from now on";
}

TEST(World, HasOneRankWithoutALauncher) {
  EXPECT_TRUE(alone.is_first() && alone.is_alone());
  std::vector<std::uint64_t> cells{1, 2, 3};
  alone.add_at_first(cells);
  EXPECT_EQ(cells, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(alone.largest(5), 5u);
  EXPECT_EQ(alone.at_first(cells), cells);
  EXPECT_EQ(alone.from_first(cells), cells);
}

}  // namespace
}  // namespace thor::comm
