#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "thor/core/error.hpp"
#include "thor/drivers/sweep/config.hpp"

/// The models of a sweep.
namespace sweep_test {

using namespace thor::sweep;

Models drawn(Design design, std::size_t keys, std::uint64_t count, std::uint64_t seed = 1) {
  std::vector<Axis> axes;
  for (std::size_t k = 0; k < keys; ++k) axes.push_back({fmt::format("k{}", k), {}, Range{0, 1, false, "", 1}});
  return {design, axes, count, seed};
}
std::vector<std::vector<double>> coordinates(const Models& models) {
  std::vector<std::vector<double>> points;
  for (std::uint64_t i = 0; i < models.count(); ++i) {
    std::vector<double>& point = points.emplace_back();
    for (const std::string& value : models.values(i)) point.push_back(number_of(value)->value);
  }
  return points;
}

/// A random shift moves all points alike, so that the bits in which two of them differ are those of the sequence: of
/// point 4, scipy.stats.qmc.Sobol has these sixteenths in each dimension.
TEST(Sobol, HasTheDirectionsOfJoeAndKuo) {
  const auto points = coordinates(drawn(Design::sobol, 16, 16));
  const auto differs = [&](std::size_t point, std::size_t dimension) {
    const auto bits = [&](std::size_t i) { return unsigned(points[i][dimension] * 16); };
    return bits(point) ^ bits(0);
  };
  const unsigned four[] = {2, 10, 6, 2, 2, 6, 10, 10, 10, 14, 10, 2, 10, 6, 2, 2};
  std::vector<unsigned> found;
  for (std::size_t k = 0; k < 16; ++k) found.push_back(differs(4, k));
  EXPECT_EQ(found, std::vector<unsigned>(std::begin(four), std::end(four)));
}

TEST(Sobol, HasOnePointInEachPart) {
  for (const std::uint64_t seed : {1, 2}) {
    const auto points = coordinates(drawn(Design::sobol, 16, 64, seed));
    for (std::size_t k = 0; k < 16; ++k) {
      std::set<int> parts;
      for (const auto& point : points) parts.insert(int(point[k] * 64));
      EXPECT_EQ(parts.size(), 64u) << k;
    }
  }
}

TEST(Models, DifferWithTheSeed) {
  for (const Design design : {Design::sobol, Design::latin}) {
    EXPECT_EQ(coordinates(drawn(design, 3, 20)), coordinates(drawn(design, 3, 20)));
    EXPECT_NE(coordinates(drawn(design, 3, 20)), coordinates(drawn(design, 3, 20, 2)));
  }
}

TEST(Models, HaveSeedsOfTheirOwn) {
  const Models models = drawn(Design::sobol, 1, 100000);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < models.count(); ++i) seeds.insert(models.seed(i));
  EXPECT_EQ(seeds.size(), models.count());
  EXPECT_LT(*seeds.rbegin(), std::uint64_t(1) << 53);  // whole numbers in a double
}

/// Keys of a Latin hypercube are independent of each other.
TEST(LatinHypercube, HasNoCorrelation) {
  const auto points = coordinates(drawn(Design::latin, 4, 4000));
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double sum = 0;
      for (const auto& p : points) sum += (p[a] - 0.5) * (p[b] - 0.5) * 12;
      EXPECT_LT(std::abs(sum / 4000), 4.5 / std::sqrt(4000.)) << a << b;
    }
  }
}

TEST(Range, EndsWhereItIsToldTo) {
  const Range range{1e17, 1e21, true, "cm^-2", 5};
  EXPECT_EQ(range.value(0), "1e+17 cm^-2");
  EXPECT_NEAR(number_of(range.value(2))->value, 1e19, 1e9);
  EXPECT_EQ(range.value(4), "1e+21 cm^-2");
  EXPECT_EQ((Range{-5, 5, false, "", 1}).value(0), "-5");
}

TEST(Grid, HasTheLastKeyFastest) {
  const Models models(Design::grid, {{"a", {"1", "2"}, {}}, {"b", {"x", "y", "z"}, {}}}, 0, 1);
  EXPECT_EQ(models.count(), 6u);
  EXPECT_EQ(models.values(4), (std::vector<std::string>{"2", "y"}));
}

TEST(Number, IsReadWithItsUnit) {
  EXPECT_EQ(number_of("1e17 cm^-2")->unit, "cm^-2");
  EXPECT_EQ(number_of("12")->unit, "");
  EXPECT_EQ(number_of("+12 km/s")->value, 12);
  EXPECT_EQ(number_of("-3.5km")->value, -3.5);
  for (const char* text : {"single", "", "nan km", "inf", "[1, 2]", "4a"}) EXPECT_FALSE(number_of(text)) << text;
}

}  // namespace sweep_test
