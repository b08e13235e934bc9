#include "thor/outputs/trust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <utility>

/// Errors that can be trusted, and those that cannot: the table in docs/notes/errors.md.
namespace trust_test {

using namespace thor;

/// The light of the photons of one bin.
using Photons = std::vector<double>;

BinSums sums_of(const Photons& photons) {
  std::vector<std::uint64_t> entries(4);
  const struct {
    std::vector<std::uint64_t>& entries;
    std::uint64_t add(std::int64_t i, std::uint64_t value) const {
      return std::exchange(entries[std::size_t(i)], entries[std::size_t(i)] + value);
    }
  } view{entries};
  for (std::size_t i = 0; i < photons.size(); ++i) {
    add_sums(view, 0, thor::sums_of(std::uint64_t(photons[i] * 0x1p32), i));
  }
  return {entries[0], entries[1], entries[2], entries[3]};
}

/// Bins of a simulated output: the photons of each come from `draw`.
struct Simulated {
  double share_trusted = 0;  ///< of the bins
  double mean_vov = 0;
  double covered = 0;  ///< share of the trusted bins whose light is within two errors of 1, its expectation
};
Simulated simulate(int bins, const std::function<Photons(std::mt19937&)>& draw) {
  Simulated s;
  std::mt19937 random(11);
  int trusted = 0, covered = 0;
  for (int i = 0; i < bins; ++i) {
    const BinError bin = error_of(sums_of(draw(random)), 1e300);
    s.mean_vov += bin.vov / bins;
    if (bin.light > 0 && trusted_share({{bin.light}, {float(bin.error / bin.light)}, {float(bin.vov)}}) == 1) {
      ++trusted;
      covered += std::abs(bin.light * 0x1p-32 - 1) < 2 * bin.error * 0x1p-32;
    }
  }
  s.share_trusted = double(trusted) / bins;
  s.covered = trusted > 0 ? double(covered) / trusted : 0;
  return s;
}

/// Light of mean 1 by a number of equal photons in the mean.
auto photons(double number) {
  return [number](std::mt19937& random) {
    return Photons(std::size_t(std::poisson_distribution<int>(number)(random)), 1 / number);
  };
}

TEST(Trust, VovIsThatOfEqualPhotonsAndOfOneThatHasEverything) {
  EXPECT_NEAR(error_of(sums_of({7}), 1e300).vov, 1, 1e-6);
  EXPECT_NEAR(error_of(sums_of({7}), 1e300).error * 0x1p-32, 7, 1e-6) << "one photon: as large as its light";
  EXPECT_NEAR(error_of(sums_of(Photons(50, 0.3)), 1e300).vov, 0.02, 1e-6);
  EXPECT_NEAR(error_of(sums_of(Photons(50, 0.3)), 50).vov, 0, 1e-6) << "every photon adds the same";
  EXPECT_EQ(error_of({}, 10).light, 0);
}

TEST(Trust, FalseAlarmsAreFew) {
  EXPECT_NEAR(simulate(2000, photons(400)).mean_vov, 1 / 400., 1e-4);
  EXPECT_EQ(simulate(2000, photons(400)).share_trusted, 1);
  EXPECT_GT(simulate(5000, photons(50)).share_trusted, 0.999);
}

TEST(Trust, FewPhotonsAreFlagged) {
  EXPECT_LT(simulate(5000, photons(12)).share_trusted, 0.01);
  EXPECT_EQ(simulate(5000, photons(3)).share_trusted, 0);
}

// Half of the light is that of many photons, half that of a few. A relative error of at most 20 % alone would let half
// of the bins pass at eight of them; those in which none of them is cannot be told from good ones by anything.
TEST(Trust, AFewBrightPhotonsAreFlagged) {
  const auto half_of = [](double bright) {
    return [faint = photons(1000), few = photons(bright)](std::mt19937& random) {
      Photons all = faint(random);
      const Photons more = few(random);
      all.insert(all.end(), more.begin(), more.end());
      for (double& light : all) light /= 2;
      return all;
    };
  };
  EXPECT_NEAR(simulate(5000, half_of(2)).share_trusted, std::exp(-2), 0.025);
  EXPECT_LT(simulate(5000, half_of(4)).share_trusted, 0.05);
  const Simulated sixteen = simulate(5000, half_of(16));
  EXPECT_GT(sixteen.share_trusted, 0.5);
  EXPECT_GT(sixteen.covered, 0.93) << "where errors are trusted, they are right";
  EXPECT_GT(simulate(5000, half_of(100)).share_trusted, 0.999) << "the twin: a hundred are enough";
}

TEST(Trust, IsTheShareOfTheLight) {
  const BinnedLight light{{6, 2, 1, 0}, {0.1f, 0.1f, 0.3f, 0}, {0.06f, 0.3f, 0.06f, 0}};
  EXPECT_NEAR(trusted_share(light), 6. / 9, 1e-12);
  EXPECT_EQ(trusted_share({{0, 0}, {0, 0}, {0, 0}}), 0) << "without light there is nothing to mistrust";
}

}  // namespace trust_test
