// The random streams as thor uses them, one for each photon, against a battery of randomness tests, each of which
// rejects a weak generator.
#include <gtest/gtest.h>

#include <map>

#include "support/battery.hpp"
#include "support/random_streams.hpp"
#include "thor/random/uniform.hpp"

namespace {

using namespace test::battery;

struct Test {
  const char* name;
  std::function<double(const Words&)> p;
  std::string weak, layout;  // what it must reject
};

const std::vector<Test> tests = {
    {"frequency of the top bits", [](auto& w) { return serial(w, 1, 12, 20); }, "minus_id", "first"},
    {"frequency of the low bits", [](auto& w) { return serial(w, 1, 12, 0); }, "lcg32", "long"},
    {"pairs of top bits", [](auto& w) { return serial(w, 2, 6, 26); }, "minus_id", "interleaved"},
    {"pairs of low bits", [](auto& w) { return serial(w, 2, 6, 0); }, "lcg32", "long"},
    {"triples of top bits", [](auto& w) { return serial(w, 3, 4, 28); }, "randu", "long"},
    {"triples of low bits", [](auto& w) { return serial(w, 3, 4, 0); }, "lcg32", "long"},
    {"gaps", gaps, "counter16", "long"},
    {"poker of top bits", [](auto& w) { return poker(w, 28); }, "minus_id", "interleaved"},
    {"poker of low bits", [](auto& w) { return poker(w, 0); }, "lcg32", "long"},
    {"runs", runs, "minus_id", "first"},
    {"birthday spacings", birthday_spacings, "lcg32", "long"},
    {"collisions", collisions, "overlapping", "interleaved"},
    {"correlation of bits of a word", [](auto& w) { return bit_correlation(w, 0); }, "twice16", "long"},
    {"correlation of bits of neighbours", [](auto& w) { return bit_correlation(w, 1); }, "minus_id", "first"},
    {"Hamming distance of neighbours", hamming_distance, "minus_id", "first"},
    {"Hamming weights of neighbours", hamming_weights, "xorshift32", "short"},
    {"rank 32", [](auto& w) { return matrix_rank<32>(w); }, "xorshift32", "long"},
    {"rank 160", [](auto& w) { return matrix_rank<160>(w); }, "xorshift128", "long"},
    {"rank 160 of the lowest bit", [](auto& w) { return matrix_rank<160>(w, 0); }, "xoshiro128+", "long"},
};

Words take(const test::Generator& generator, const std::string& layout) {
  test::Words source(generator, layout, 2024);
  Words words(test::battery::size);  // in a unity build there are others
  for (auto& word : words) word = source.next();
  return words;
}

// A level of 1e-3 for all together (Bonferroni).
TEST(RandomBattery, StreamsOfThorPass) {
  const auto generators = test::thor_generators();
  const double limit = 1e-3 / double(generators.size() * test::layouts.size() * tests.size());
  for (const auto& generator : generators)
    for (const auto& layout : test::layouts) {
      const Words words = take(generator, layout);
      for (const auto& test : tests) {
        const double p = test.p(words);
        EXPECT_GT(p, limit) << test.name << ", " << generator.name << ", " << layout;
      }
    }
}

TEST(RandomBattery, EachTestRejectsAWeakGenerator) {
  std::map<std::pair<std::string, std::string>, Words> words;
  std::map<std::string, int> rejections;
  for (const auto& test : tests) {
    auto& w = words[{test.weak, test.layout}];
    if (w.empty()) w = take(test::generator_named(test.weak), test.layout);
    const double p = test.p(w);
    EXPECT_LT(p, 1e-10) << test.name << ", " << test.weak << ", " << test.layout;
    rejections[test.weak] += p < 1e-10;
  }
  for (const auto& generator : test::weak_generators()) EXPECT_GT(rejections[generator.name], 0) << generator.name;
}

// One long stream does not reveal correlations between neighbouring streams: it passes all tests.
TEST(RandomBattery, NeighboursShowWhatOneStreamDoesNot) {
  const auto generator = test::generator_named("minus_id");
  const Words one = take(generator, "long"), neighbours = take(generator, "interleaved");
  int rejections = 0;
  for (const auto& test : tests) {
    EXPECT_GT(test.p(one), 1e-3 / double(tests.size())) << test.name;
    rejections += test.p(neighbours) < 1e-10;
  }
  EXPECT_GE(rejections, 10);
}

// A shell of tau = 0.26: 77 % of the photons pass. Where photons are seeded by their bare number, all of the first 1000
// do.
TEST(RandomBattery, FirstOpticalDepthsOfNeighboursAreIndependent) {
  const double tau = 0.26, expected = std::exp(-tau);
  const auto passed = [&](const test::Generator& generator, int photons) {
    double sum = 0;
    for (int id = 0; id < photons; ++id)
      sum += -std::log(thor::uniform_positive<double>(generator.stream(2024, std::uint64_t(id))())) > tau;
    return sum / photons;
  };
  for (const int photons : {1000, 100'000}) {
    const double error = std::sqrt(expected * (1 - expected) / photons);
    for (const auto& generator : test::thor_generators())
      EXPECT_NEAR(passed(generator, photons), expected, 4 * error) << generator.name << ", " << photons;
    EXPECT_GT(passed(test::generator_named("minus_id"), photons), expected + 8 * error) << photons;
  }
}

}  // namespace
