#include "thor/core/parallel_for.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace thor {
namespace {

TEST(ParallelFor, EveryIndexOnce) {
  for (const int threads : {0, 1, 4}) {
    for (const std::size_t count : {std::size_t(0), std::size_t(1), std::size_t(1000), std::size_t(1001)}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(threads, count, 10, [&](std::size_t begin, std::size_t end) {
        EXPECT_LT(begin, end);
        EXPECT_LE(end, begin + 10);
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const auto& n : visits) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelFor, EachThreadHasItsOwnCopy) {
  std::mutex mutex;
  std::set<const void*> copies;
  std::set<std::thread::id> threads;
  std::atomic<std::size_t> calls{0}, of_copies{0};
  parallel_for(4, 400, 1, [&, mine = std::size_t(0)](std::size_t, std::size_t) mutable {
    ++mine;
    of_copies += mine == 1;
    ++calls;
    const std::lock_guard lock(mutex);
    copies.insert(&mine);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(calls, 400u);
  EXPECT_EQ(of_copies, threads.size());
  EXPECT_EQ(copies.size(), threads.size());
  EXPECT_LE(threads.size(), 4u);
}

TEST(ParallelFor, RethrowsTheFirstExceptionAndEnds) {
  std::atomic<int> calls{0};
  const auto fail = [&](std::size_t i, std::size_t) {
    ++calls;
    if (i == 5) throw std::runtime_error("five");
  };
  EXPECT_THROW(parallel_for(1, 1000, 1, fail), std::runtime_error);
  EXPECT_EQ(calls, 6);
  EXPECT_THROW(parallel_for(4, 1000, 1, fail), std::runtime_error);
}

}  // namespace
}  // namespace thor
