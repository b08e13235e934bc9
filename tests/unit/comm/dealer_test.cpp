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
