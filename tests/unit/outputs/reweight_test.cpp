#include "thor/outputs/reweight.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "thor/core/error.hpp"

namespace thor {
namespace {

/// Moments of a narrow line, of photons of a wide one over a continuum; of another width they differ.
TEST(Reweight, GivesTheMomentsOfTheOtherSource) {
  const auto run = EmittedVelocities::with_width(800e5, 740e5, -2500e5, 2500e5);
  EXPECT_NEAR(run.line, 740. / 5740, 1e-12);
  std::mt19937_64 random(3);
  std::normal_distribution<double> line(0, run.sigma);
  std::uniform_real_distribution<double> flat(run.low, run.high), share(0, 1);
  std::vector<double> velocities;
  for (int i = 0; i < 400000; ++i) velocities.push_back(share(random) < run.line ? line(random) : flat(random));
  const EmittedVelocities wanted{.sigma = 300e5};
  const auto weights = reweight(velocities, run, wanted);
  const auto moment = [&](int power) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double term = weights[i] * std::pow(velocities[i] / wanted.sigma, power);
      sum += term, squares += term * term;
    }
    const double n = double(weights.size());
    return std::pair(sum / n, std::sqrt(squares) / n);
  };
  for (const auto& [power, expected] : {std::pair(0, 1.), {1, 0.}, {2, 1.}, {4, 3.}}) {
    const auto [mean, error] = moment(power);
    EXPECT_NEAR(mean, expected, 4 * error) << power;
  }
  const auto [fourth, error] = moment(4);
  EXPECT_GT(std::abs(fourth - 3.3), 4 * error) << "a tenth more is noticed";
  const double effective = effective_number(weights);
  EXPECT_GT(effective, 0.05 * double(weights.size()));
  EXPECT_LT(effective, 0.5 * double(weights.size()));
  EXPECT_DOUBLE_EQ(effective_number(std::vector<double>(7, 0.3)), 7);
  EXPECT_EQ(reweight(velocities, run, run), std::vector<double>(velocities.size(), 1));
}

TEST(Reweight, LeavesWhatDustDoesNotAbsorb) {
  const std::vector<double> columns{0, 1e19, 3e19};
  const auto left = left_by_dust(columns, 1e19, 0.5);
  EXPECT_EQ(left[0], 1);
  EXPECT_NEAR(left[1], std::exp(-0.5), 1e-15);
  EXPECT_NEAR(left[2], std::exp(-1.5), 1e-15);
}

TEST(Reweight, RefusesWhatCannotBe) {
  const std::vector<double> one{3e8};
  const EmittedVelocities flat{.line = 0, .low = -1e7, .high = 1e7}, line{.sigma = 1e7};
  EXPECT_THROW(reweight(one, flat, line), Error) << "beyond the continuum";
  EXPECT_NO_THROW(reweight(one, line, flat));
  EXPECT_THROW(reweight(one, line, EmittedVelocities{}), Error);
  EXPECT_THROW(reweight(one, line, (EmittedVelocities{.sigma = 1e7, .line = 0.5})), Error);
  EXPECT_THROW(reweight(one, line, (EmittedVelocities{.sigma = NAN})), Error);
  EXPECT_THROW(left_by_dust(one, 0, 1), Error);
  EXPECT_THROW(left_by_dust(one, 1, -1), Error);
}

}  // namespace
}  // namespace thor
