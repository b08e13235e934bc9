#include "thor/math/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace thor {
namespace {

TEST(ExactSum, IsTheSameInAnyOrderAndFromAnyParts) {
  std::mt19937_64 random(2);
  std::vector<double> terms;
  for (int i = 0; i < 20000; ++i) terms.push_back(std::exp2(double(random() % 120) - 60) * double(random() % 1000003));
  ExactSum forward;
  double plain = 0;
  for (const double term : terms) forward.add(term), plain += term;
  std::ranges::shuffle(terms, random);
  ExactSum parts[3], all;
  double shuffled = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) parts[i % 3].add(terms[i]), shuffled += terms[i];
  for (ExactSum& part : parts) {
    for (std::size_t k = 0; k < all.words().size(); ++k) all.words()[k] += part.words()[k];
  }
  EXPECT_EQ(forward.value(), all.value());
  EXPECT_NE(plain, shuffled) << "the twin: a plain sum has its order";
  EXPECT_NEAR(forward.value() / plain, 1, 1e-12);
}

TEST(ExactSum, LosesNothing) {
  ExactSum sum;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(0.5);
  EXPECT_EQ(sum.value(), 1e16 + 500);
  ExactSum small;
  for (int i = 0; i < 7; ++i) small.add(5e-324);
  EXPECT_EQ(small.value(), 7 * 5e-324) << "the smallest number there is";
  EXPECT_EQ(ExactSum().value(), 0);
}

}  // namespace
}  // namespace thor
