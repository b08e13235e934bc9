#include "thor/transport/pool.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace thor {
namespace {

/// Windows of ids, as those that other processes leave.
Pool::Deal windows(std::vector<Pool::Block> list, int& asked) {
  return [list = std::move(list), &asked, i = std::size_t(0)]() mutable {
    ++asked;
    return i < list.size() ? list[i++] : Pool::Block{};
  };
}

TEST(Pool, GivesEveryIdOnceToManyThreads) {
  int asked = 0;
  Pool pool(windows({{0, 5000}, {9000, 9001}, {20000, 27000}}, asked), 4);
  std::vector<std::vector<Pool::Block>> taken(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : taken) {
      threads.emplace_back([&pool, &mine] {
        for (Pool::Block block; !(block = pool.take()).empty();) mine.push_back(block);
      });
    }
  }
  std::vector<int> times(27000);
  for (const auto& mine : taken) {
    for (const Pool::Block& block : mine) {
      for (std::uint64_t id = block.next; id < block.end; ++id) ++times[id];
    }
  }
  for (std::size_t id = 0; id < times.size(); ++id) {
    ASSERT_EQ(times[id], id < 5000 || id == 9000 || id >= 20000 ? 1 : 0) << id;
  }
  EXPECT_TRUE(pool.is_empty());
  EXPECT_EQ(asked, 4) << "the last answer, that there are no more, is not asked for again";
}

TEST(Pool, KeepsWhatIsLeftWhenItIsClosed) {
  int asked = 0;
  Pool pool(windows({{0, 100}, {200, 300}}, asked), 1);
  const Pool::Block first = pool.take();
  EXPECT_FALSE(first.empty());
  pool.close();
  EXPECT_TRUE(pool.take().empty() && pool.is_empty() && pool.take_all().empty());
  pool.give_back({first.next + 1, first.end});
  const auto left = pool.left();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].next, first.next + 1);
  EXPECT_EQ(left[1].end, 100u);
  EXPECT_EQ(asked, 1) << "after close() none is asked for";
}

TEST(Pool, GivesAWholeWindowToAConsumerThatDealsItselfOut) {
  int asked = 0;
  Pool pool(windows({{0, 100}, {200, 300}}, asked), 1);
  EXPECT_EQ(pool.take_all().end, 100u);
  EXPECT_FALSE(pool.is_empty());
  EXPECT_EQ(pool.take_all().next, 200u);
  EXPECT_TRUE(pool.take_all().empty());
}

}  // namespace
}  // namespace thor
