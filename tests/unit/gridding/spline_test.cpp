#include "thor/gridding/deposit/spline.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/gridding/deposit/deposit.hpp"
#include "thor/gridding/deposit/footprint.hpp"

namespace thor::gridding {
namespace {

// Monaghan (1992) as printed, with h = l/2 and the integral pi h^3.
double monaghan(double q) {
  const double u = 2 * q;
  if (u < 1) return 1 - 1.5 * u * u + 0.75 * u * u * u;
  return u < 2 ? 0.25 * std::pow(2 - u, 3) : 0;
}

TEST(Spline, IsMonaghans) {
  for (double q = 0; q < 1.2; q += 0.01) EXPECT_NEAR(spline(q), monaghan(q), 1e-15) << q;
}

TEST(Spline, HasItsIntegral) {
  double sum = 0;
  constexpr int steps = 4000;
  for (int i = 0; i < steps; ++i) {
    const double q = (i + 0.5) / steps;
    sum += 4 * constants::pi * q * q * spline(q) / steps;
  }
  EXPECT_NEAR(sum, spline_integral, 1e-7);
  EXPECT_GT(std::abs(sum - constants::pi / 7), 1e-2);  // the integral in h would differ
}

TEST(Spline, RadiusIsThatOfThePaper) { EXPECT_NEAR(kernel_radius(4 * constants::pi / 3 * 8), 5, 1e-12); }

double sum_of(const double* position, double radius) {
  const Footprint f = footprint(position, radius);
  const Range z{0, int(f.last[2] - f.first[2])};
  std::vector<float> weight(std::size_t(z.end), 0.f);
  double sum = 0;
  for (int i = 0; i < int(f.last[0] - f.first[0]); ++i) {
    for (int j = 0; j < int(f.last[1] - f.first[1]); ++j) {
      const Range r = row_weights(f, i, j, z, weight.data());
      for (int k = r.begin; k < r.end; ++k) sum += double(weight[std::size_t(k)]);
    }
  }
  return sum;
}

// Where the sum over cells is replaced by the integral, the two agree.
TEST(Footprint, WideKernelsSumToTheirIntegral) {
  double worst = 0, narrower = 0;
  for (int i = 0; i < 20; ++i) {
    const double position[3] = {0.05 * i, 0.31 * i, 0.77 * i};
    const auto error = [&](double radius) {
      return std::abs(sum_of(position, radius) / (spline_integral * std::pow(radius, 3)) - 1);
    };
    worst = std::max(worst, error(wide));
    narrower = std::max(narrower, error(3));
  }
  EXPECT_LT(worst, 2e-7);
  EXPECT_GT(narrower, 1e-4);  // not so for narrow kernels
}

TEST(Footprint, PartsOfARowAreTheSameAsTheRow) {
  const double position[3] = {10.3, 20.7, 30.1};
  for (const double radius : {0.6, 1.3, 2.5, 7.9}) {
    const Footprint f = footprint(position, radius);
    const int length = int(f.last[2] - f.first[2]), middle = length / 2;
    std::vector<float> all(std::size_t(length), 0.f), part(std::size_t(length), 0.f);
    const Range r = row_weights(f, middle, middle, {0, length}, all.data());
    const Range s = row_weights(f, middle, middle, {1, length - 1}, part.data());
    for (int k = s.begin; k < s.end; ++k) {
      EXPECT_GE(k, r.begin);
      EXPECT_EQ(all[std::size_t(k)], part[std::size_t(k - 1)]) << radius << " " << k;
    }
    EXPECT_EQ(s.begin, std::max(r.begin, 1));
    EXPECT_EQ(s.end, std::min(r.end, length - 1));
  }
}

}  // namespace
}  // namespace thor::gridding
