#include "thor/gridding/memory.hpp"

#include <gtest/gtest.h>

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

TEST(GridMemory, SomeIsFree) {
  EXPECT_GT(available_memory(), 1e7);
  EXPECT_LT(available_memory(), 1e15);
  EXPECT_EQ(size_text(1.234e9), "1.23 GB");
}

}  // namespace
}  // namespace thor::gridding
