#include "thor/emission/recombination.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace thor::emission {
namespace {

// Hui & Gnedin (1997), appendix A: case B, and case A as a wrong one.
double hui_gnedin(double temperature, double factor, double power, double knee, double bend, double fall) {
  const double lambda = 315614 / temperature;
  return factor * std::pow(lambda, power) / std::pow(1 + std::pow(lambda / knee, bend), fall);
}
double case_B(double t) { return hui_gnedin(t, 2.753e-14, 1.5, 2.74, 0.407, 2.242); }
double case_A(double t) { return hui_gnedin(t, 1.269e-13, 1.503, 0.522, 0.47, 1.923); }

double worst(double (*form)(double), double from, double to) {
  double worst = 0;
  for (double t = from; t < to; t *= 1.05) worst = std::max(worst, std::abs(alpha_B(t) / form(t) - 1));
  return worst;
}

// Osterbrock & Ferland (2006), table 2.1, within 3 %.
TEST(Recombination, CoefficientAsPublished) {
  EXPECT_NEAR(alpha_B(5e3) / 4.54e-13, 1, 0.03);
  EXPECT_NEAR(alpha_B(1e4) / 2.59e-13, 1, 0.03);
  EXPECT_NEAR(alpha_B(2e4) / 1.43e-13, 1, 0.03);
  EXPECT_NEAR(alpha_B(1e4), 2.54e-13, 1e-20);  // Draine's own number
  EXPECT_NEAR(alpha_B(2e4) / 2.54e-13, std::pow(2, -0.8163 - 0.0208 * std::log(2)), 1e-12);
}

TEST(Recombination, CoefficientWithinThreePercentOfHuiAndGnedinAtAllTemperatures) {
  EXPECT_LT(worst(case_B, 1, 1e9), 0.03);
  EXPECT_GT(worst(case_A, 1, 1e9), 0.2);
  EXPECT_GT(worst([](double t) { return 1.05 * case_B(t); }, 1e3, 1e4), 0.03);
}

TEST(Recombination, CoefficientHasNoStep) {
  for (const double joint : {30.0, 3e4}) {
    EXPECT_NEAR(alpha_B(joint * (1 - 1e-9)) / alpha_B(joint * (1 + 1e-9)), 1, 1e-8) << joint;
  }
}

// From the effective coefficients of 2s: Draine (2011), table 14.2 (0.305, 0.325, 0.356 of all recombinations), within
// 2 %; Osterbrock & Ferland (2006), table 4.11: 0.838e-13 of 2.59e-13 at 1e4 K.
TEST(Recombination, ShareAsPublished) {
  EXPECT_NEAR(recombination_share(5e3), 1 - 0.305, 0.014);
  EXPECT_NEAR(recombination_share(1e4), 1 - 0.325, 0.014);
  EXPECT_NEAR(recombination_share(2e4), 1 - 0.356, 0.014);
  EXPECT_NEAR(recombination_share(1e4), 1 - 0.838 / 2.59, 0.005);
  EXPECT_NEAR(recombination_share(1e4), 0.68, 0.005);
  EXPECT_GT(recombination_share(5e3) - recombination_share(2e4), 0.04);  // a constant 0.68 would fail
}

TEST(Recombination, ShareIsHeldBeyondItsRange) {
  EXPECT_EQ(recombination_share(10), recombination_share(100));
  EXPECT_EQ(recombination_share(1e8), recombination_share(1e5));
  EXPECT_NE(recombination_share(110), recombination_share(100));
}

TEST(Recombination, Emissivity) {
  EXPECT_NEAR(lya_energy / 1.634e-11, 1, 1e-4);
  EXPECT_NEAR(lya_energy / 1.602177e-12, 10.199, 1e-3);  // [eV]
  EXPECT_NEAR(recombination_emissivity(1e4, 1, 1) / (0.677 * 2.54e-13 * 1.634e-11), 1, 1e-3);
  EXPECT_NEAR(recombination_emissivity(1e4, 2, 3) / recombination_emissivity(1e4, 1, 1), 6, 1e-12);
  EXPECT_TRUE(std::isnan(alpha_B(0)) && std::isnan(alpha_B(-1)) && std::isnan(recombination_share(std::nan(""))));
}

}  // namespace
}  // namespace thor::emission
