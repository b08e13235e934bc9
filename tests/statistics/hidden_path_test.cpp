// The path that core skipping hides (transport/step.hpp) against a simulation of the hidden scatterings.
#include <gtest/gtest.h>

#include "thor/datasets/sphere.hpp"
#include "thor/interactors/numerics.hpp"
#include "thor/transport/step.hpp"

namespace {

using namespace thor;

/// Mean sum of 1/H over the scatterings within the core before the first with a perpendicular speed above x_crit.
double simulated(double a, double x_crit) {
  ResonantLine<double> line{};
  line.a = a, line.inv_a = 1 / a, line.log_envelope = std::log1p(4.4 * 4.4 / (a * a));
  line.core = dipole_mixture<double>(1. / 12), line.wing = dipole_mixture<double>(1. / 4);
  const ResonantLineView<double> view{line};
  auto random = xoshiro<double>(stream_key(3, std::uint64_t(x_crit * 100)));
  double sum = 0, histories = 0;
  for (long work = 0; work < 3000000; ++histories) {
    double x = (2 * uniform<double>(random.next()) - 1) * std::min(x_crit, 1.);
    for (;; ++work) {
      const auto choice = random.next(), proposal = random.next();
      const auto target = view.target(x);
      const auto atom = view.prepare(DefaultSchemes{}, target, std::exp(-x * x), {choice, proposal}, {}, random);
      const double speed = std::sqrt(-std::log(uniform_positive<double>(random.next())));
      const double across = speed * std::cos(2 * std::numbers::pi * uniform<double>(random.next()));
      const auto first = random.next(), second = random.next();
      if (!atom.accepted) continue;
      if (speed > x_crit) break;
      x = view.sample(target, atom, across, {first, second}, {}).x;
      if (std::abs(x) > x_crit) break;
      sum += 1 / Voigt::eval(a, x).H;
    }
  }
  return sum / histories;
}

TEST(HiddenPath, FollowsTheSimulation) {
  for (const double a : {4.7e-4, 3e-3, 1.05e-2}) {
    for (const double x_crit : {1., 1.5, 2., 2.5, 3.}) {
      EXPECT_NEAR(hidden_path(x_crit, a) / simulated(a, x_crit), 1, 0.1) << "a = " << a << ", x_crit = " << x_crit;
    }
  }
  EXPECT_GT(std::abs(hidden_path(2.2, 4.7e-4) / simulated(4.7e-4, 2.) - 1), 0.1)
      << "x_crit wrong by 10 % must not pass";
  EXPECT_LT(hidden_path(1e-3, 4.7e-4), 1e-5);
}

}  // namespace
