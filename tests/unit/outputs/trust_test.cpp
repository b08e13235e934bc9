#include "thor/outputs/trust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

/// Errors that can be trusted, and those that cannot: the table in docs/notes/errors.md.
namespace trust_test {

using namespace thor;

/// Bins of a simulated output: the sums of the 32 groups of each come from `draw`.
struct Simulated {
  BinnedLight light;
  double share_trusted = 0;  ///< of the bins
  double mean_vov = 0;
  double covered = 0;  ///< share of the trusted bins whose light is within two errors of 1, its expectation
};
Simulated simulate(int bins, const std::function<double(std::mt19937&)>& draw) {
  Simulated s;
  std::mt19937 random(11);
  int trusted = 0, covered = 0;
  for (int i = 0; i < bins; ++i) {
    double sums[id_groups], all = 0;
    for (double& sum : sums) all += sum = draw(random) / id_groups;
    const BinnedLight bin{{all}, {error_of_groups(sums)}, {float(vov_of_groups(sums))}, 0, "groups"};
    s.mean_vov += double(bin.vov[0]) / bins;
    if (all > 0 && trusted_share(bin) == 1) {
      ++trusted;
      covered += std::abs(all - 1) < 2 * bin.error[0];
    }
  }
  s.share_trusted = double(trusted) / bins;
  s.covered = trusted > 0 ? double(covered) / trusted : 0;
  return s;
}

/// Light of a group, of mean 1, by a number of equal photons in all.
auto photons(double number) {
  return [number](std::mt19937& random) {
    return std::poisson_distribution<int>(number / id_groups)(random) * id_groups / number;
  };
}

TEST(Trust, VovIsThatOfGaussianGroupsAndOfOneThatHasEverything) {
  double sums[id_groups] = {};
  EXPECT_EQ(vov_of_groups(sums), 0);
  sums[3] = 7;  // (31^3 + 1)/(31 x 32^2) - 1/32
  EXPECT_NEAR(vov_of_groups(sums), 0.907258, 1e-6);
  EXPECT_NEAR(error_of_groups(sums), 7, 1e-12) << "one photon: as large as its light";
  for (int g = 0; g < id_groups; ++g) sums[g] = 5 + (g % 2);
  EXPECT_NEAR(vov_of_groups(sums), 0, 1e-12) << "two values, equally often: the least there is";
}

// 20000 bins know a rate of 0.4 % to 0.05 %.
TEST(Trust, FalseAlarmsAreFew) {
  const Simulated many =
      simulate(20000, [](std::mt19937& random) { return 1 + 0.1 * std::normal_distribution()(random); });
  EXPECT_NEAR(many.mean_vov, 0.0568, 0.001) << "(3 (G - 1)/(G + 1) - 1)/G";
  EXPECT_NEAR(1 - many.share_trusted, 0.0043, 4 * 0.0005);
  EXPECT_GT(simulate(5000, photons(400)).share_trusted, 0.985);
  EXPECT_GT(simulate(5000, photons(100)).share_trusted, 0.97);
}

TEST(Trust, FewPhotonsAreFlagged) {
  EXPECT_LT(simulate(5000, photons(9)).share_trusted, 0.01);
  EXPECT_LT(simulate(5000, photons(3)).share_trusted, 0.001);
}

// Half of the light is that of many photons, half that of a few. A relative error of at most 20 % alone would let half
// of the bins pass at eight of them; those in which none of them is cannot be told from good ones by anything.
TEST(Trust, AFewBrightPhotonsAreFlagged) {
  const auto half_of = [](double bright) {
    return [faint = photons(1000), few = photons(bright)](std::mt19937& random) {
      return 0.5 * faint(random) + 0.5 * few(random);
    };
  };
  EXPECT_NEAR(simulate(5000, half_of(2)).share_trusted, std::exp(-2), 0.025);
  EXPECT_LT(simulate(5000, half_of(4)).share_trusted, 0.05);
  const Simulated eight = simulate(5000, half_of(8));
  EXPECT_LT(eight.share_trusted, 0.75);
  EXPECT_GT(eight.covered, 0.93) << "where errors are trusted, they are right";
  EXPECT_GT(simulate(5000, half_of(100)).share_trusted, 0.95) << "the twin: a hundred are enough";
}

TEST(Trust, IsTheShareOfTheLight) {
  const BinnedLight groups{{6, 2, 1, 0}, {0.6, 0.2, 0.3, 0}, {0.06f, 0.3f, 0.06f, 0}, 0, "groups"};
  EXPECT_NEAR(trusted_share(groups), 6. / 9, 1e-12);
  BinnedLight histories = groups;
  histories.vov.clear(), histories.error_method = "histories";
  EXPECT_NEAR(trusted_share(histories), 8. / 9, 1e-12) << "an upper limit";
  EXPECT_EQ(trusted_share({{0, 0}, {0, 0}, {}, 0, "histories"}), 0) << "without light there is nothing to mistrust";
}

}  // namespace trust_test
