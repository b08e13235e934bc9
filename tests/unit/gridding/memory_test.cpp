#include "thor/gridding/plan/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "thor/core/error.hpp"

namespace thor::gridding {
namespace {

TEST(GridMemory, AGridLargerThanMemoryIsAnError) {
  MemoryPlan plan;
  plan.grid = 1e12, plan.field = 1e11, plan.per_cell = 100;
  EXPECT_NO_THROW(require(plan, 2e12));
  try {
    require(plan, 1e12);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::input);
    EXPECT_NE(std::string(e.what()).find("1.1 TB"), std::string::npos) << e.what();
  }
}

TEST(GridMemory, SizesAreInTheUnitThatFits) {
  EXPECT_EQ(size_text(1.234e9), "1.23 GB");
  EXPECT_EQ(size_text(1.1e12), "1.1 TB");
  EXPECT_EQ(size_text(5e6), "5 MB");
}

// A limit on the address space counts, minus what is already in use.
TEST(GridMemory, IsNoMoreThanTheLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const double used = pages * double(sysconf(_SC_PAGESIZE)), room = 256 << 20;
  if (available_memory() < room) GTEST_SKIP() << "SKIPPED: there is less than 256 MB";
  const rlimit tight{rlim_t(used + room), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const double free = available_memory();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_NEAR(free, room, 0.1 * room);
  EXPECT_GT(available_memory(), free) << "without the limit";
}

}  // namespace
}  // namespace thor::gridding
