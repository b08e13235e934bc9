#include "thor/drivers/mcrt/until.hpp"

#include <cmath>

#include "support/run.hpp"

/// When a run looks at its error, and where it ends.
namespace {

using namespace thor;

config::Until two_percent(std::uint64_t most = 1'000'000'000) { return {"s", ErrorOf::peak, 0.02, most, {}}; }

TEST(Until, GoesWhereTheErrorPoints) {
  // 1/sqrt(N p) = 2 % is reached with 2500/p photons.
  const auto reached = [](std::uint64_t photons, double error) { return Reached{photons, 1, error, ""}; };
  EXPECT_EQ(next_look(two_percent(), reached(1000, 0.04), 1), 4000u) << "at most four times as many";
  EXPECT_EQ(next_look(two_percent(), reached(1000, 0.03), 1), 2295u) << "2.25 times as many, and 2 %";
  EXPECT_EQ(next_look(two_percent(), reached(1000, 0.03), 7), 2296u) << "a multiple of 7";
  EXPECT_EQ(next_look(two_percent(), reached(1000, 0.02001), 1), 1022u);
  EXPECT_EQ(next_look(two_percent(), reached(10, 0.0201), 1), 11u) << "at least one more";
  EXPECT_EQ(next_look(two_percent(), Reached{1000, 1, {}, ""}, 1), 4000u) << "no light yet";
  EXPECT_EQ(next_look(two_percent(), Reached{10'000'000, 1, {}, ""}, 1), 10'000'000u) << "and none to come";
  EXPECT_EQ(next_look(two_percent(), reached(10'000'000, 1), 1), 40'000'000u);
  EXPECT_EQ(next_look(two_percent(3000), reached(1000, 0.1), 1), 3000u);
  EXPECT_EQ(next_look(two_percent(3000), reached(1000, 0.1), 7), 2996u);
  EXPECT_EQ(next_look(two_percent(3000), reached(3000, 0.1), 1), 3000u) << "no further";
  EXPECT_EQ(next_look(two_percent(std::uint64_t(1) << 62), reached(std::uint64_t(1) << 61, 0.1), 1), std::uint64_t(1)
                                                                                                         << 62);
}

/// Bins of n photons have errors of 1/sqrt(n): the rule ends close to the number that it takes, whatever it starts
/// from.
TEST(Until, EndsCloseToWhatItTakes) {
  for (const double share : {1., 0.1, 1e-3}) {
    for (const std::uint64_t first : {10u, 1000u, 12345u}) {
      Reached reached{first, 0, {}, ""};
      int looks = 0;
      for (; looks < 100; ++looks) {
        const double hits = std::floor(double(reached.photons) * share);
        reached.error = hits > 0 ? std::optional(1 / std::sqrt(hits)) : std::nullopt;
        if (reached.met(two_percent())) break;
        reached.photons = next_look(two_percent(), reached, 1);
      }
      const double needed = 2500 / share;
      EXPECT_GE(double(reached.photons), needed * 0.999);
      EXPECT_LE(double(reached.photons), std::max(double(first), 1.05 * needed)) << share << " " << first;
      EXPECT_LT(looks, 16);
    }
  }
}

TEST(Until, SaysWhatItTakes) {
  const Reached reached{1000, 60, 0.04, "max_photons"};
  EXPECT_NEAR(*reached.times(two_percent()), 4, 1e-12);
  const std::string said = describe(two_percent(), reached);
  for (const char* part : {"4 %", "2 %", "max_photons", "4e+03 photons", "4:00"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
  for (const auto& [seconds, text] : {std::pair(0.01, " 0.04 s in"), {10., " 40 s in"}, {3600., " 4:00:00 h:m:s in"}}) {
    const std::string lasting = describe(two_percent(), Reached{1000, seconds, 0.04, "max_photons"});
    EXPECT_NE(lasting.find(text), std::string::npos) << lasting;
  }
  EXPECT_NE(describe(two_percent(), Reached{1000, 60, {}, "max_time"}).find("no light"), std::string::npos);
}

TEST(Until, SharesOfGeneratorsAreKept) {
  const auto unit = [](const std::string& generators) {
    const auto config = config::parse(
        "line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1}\ngenerators: " +
            generators + "\noutput: {path: x.h5}\n",
        "test");
    return share_unit(build_setup(config).emitter);
  };
  EXPECT_EQ(unit("[{type: point, photons: 1000}]"), 1u);
  EXPECT_EQ(unit("[{type: point, photons: 1000}, {type: point, photons: 3000}]"), 4u);
  EXPECT_EQ(unit("[{type: point, photons: 1000}, {type: point, photons: 3001}]"), 4001u);
}

}  // namespace
