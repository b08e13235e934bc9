#include "thor/core/progress.hpp"

#include <gtest/gtest.h>

namespace thor {
namespace {

TEST(Progress, WhatDoesNotFitIsLeftOutByRank) {
  const std::vector<ProgressPart> parts{{0, "10 %"}, {2, "1 of 10 photons"}, {3, "5/s"}, {1, "0:09 left"}};
  EXPECT_EQ(fit(parts, 0), "10 %  1 of 10 photons  5/s  0:09 left");
  EXPECT_EQ(fit(parts, 37), "10 %  1 of 10 photons  5/s  0:09 left");
  EXPECT_EQ(fit(parts, 36), "10 %  1 of 10 photons  0:09 left");
  EXPECT_EQ(fit(parts, 31), "10 %  0:09 left");
  EXPECT_EQ(fit(parts, 14), "10 %");
  EXPECT_EQ(fit(parts, 2), "10");
}

}  // namespace
}  // namespace thor
