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
  EXPECT_NO_THROW(require(plan, {{}, 2e12}));
  const auto refused = [&](const MemoryRoom& room, const char* words) {
    try {
      require(plan, room);
      ADD_FAILURE() << words;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_NE(std::string(e.what()).find("1.1 TB"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  refused({{}, 1e12}, "1 TB are free");
  refused({3e12, 1e12}, "1 TB are free");
  refused({5e11, 2e12}, "--memory allows 500 GB");
}

MemoryPlan thousand_layers() {
  MemoryPlan plan;
  plan.grid = 900e6, plan.field = 100e6, plan.block = 50e6;  // a layer is 1 MB
  plan.all_layers = plan.layers = 1000;
  return plan;
}

TEST(GridMemory, SlabsAreAsThickAsTheyMayBe) {
  const auto layers = [](const MemoryRoom& room) { return in_slabs(thousand_layers(), room).layers; };
  EXPECT_EQ(layers({{}, 1050e6}), 1000);
  EXPECT_EQ(layers({{}, 1049e6}), 736) << "three quarters of what is free";
  EXPECT_EQ(layers({1050e6, 1e12}), 1000);
  EXPECT_EQ(layers({1049e6, 1e12}), 992);
  EXPECT_EQ(layers({60.5e6, 1e12}), 10);
  EXPECT_EQ(layers({60.5e6, 80e6}), 10);
  EXPECT_EQ(layers({1e12, 80e6}), 10);
  EXPECT_EQ(layers({51e6, 1e12}), 1);
  EXPECT_EQ(layers({1e6, 1e12}), 1);
  const MemoryPlan plan = in_slabs(thousand_layers(), {351e6, 1e12});
  EXPECT_EQ(plan.layers, 288);
  EXPECT_EQ(plan.slabs(), 4);
  EXPECT_EQ(plan.passes(), 4);
  EXPECT_DOUBLE_EQ(plan.total(), 338e6);
  EXPECT_NO_THROW(require(plan, {351e6, 1e12}));
  EXPECT_THROW(require(in_slabs(thousand_layers(), {50.9e6, 1e12}), {50.9e6, 1e12}), Error);
}

TEST(GridMemory, NearestReadsTheGasOnce) {
  MemoryPlan whole = thousand_layers();
  whole.elements = 100e6;
  const MemoryPlan plan = in_slabs(whole, {170e6, 1e12});
  EXPECT_EQ(plan.layers, 20);
  EXPECT_EQ(plan.slabs(), 50);
  EXPECT_EQ(plan.passes(), 1);
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
