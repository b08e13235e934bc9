#include "thor/drivers/mcrt/caveats.hpp"

#include <gtest/gtest.h>

namespace thor {
namespace {

/// Photons of weight 1 (or as given) with these fates, and a spectrum of escaped ones in -1 < x < 1.
struct Counted {
  SpectrumOutput narrow{.name = "narrow", .axis = config::Axis::x, .low = -1, .high = 1, .bins = 2};
  Tally tally{{narrow}, {[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }}, 1e4, 1e4};

  void add(Phase fate, int count, double frequency = 0, double weight = 1, double unresolved = 0) {
    for (int i = 0; i < count; ++i) {
      Photon p{};
      p.fate = fate;
      p.weight = weight;
      p.frequency_final = frequency;
      tally.start(weight + unresolved, weight);
      tally.accept(p);
    }
  }
  std::vector<std::string> caveats() const {
    return caveats_of(tally, tally.light_of_outputs(), {tally.photons(), ""}).stored;
  }
};

TEST(Caveats, OnePerCentLostIsTheMost) {
  Counted few;
  few.add(Phase::escaped, 990);
  few.add(Phase::lost, 10);
  EXPECT_TRUE(is_reliable(few.tally));
  ASSERT_EQ(few.caveats().size(), 1u);
  EXPECT_EQ(few.caveats()[0].find("unreliable"), std::string::npos);
  few.add(Phase::lost, 1);
  EXPECT_FALSE(is_reliable(few.tally));
  EXPECT_NE(few.caveats()[0].find("unreliable"), std::string::npos);
  Counted bright;
  bright.add(Phase::escaped, 1000);
  bright.add(Phase::lost, 1);
  EXPECT_TRUE(is_reliable(bright.tally));
  bright.add(Phase::lost, 1, 0, 100);
  EXPECT_FALSE(is_reliable(bright.tally));
}

/// Jumps are advised only where they would be used.
TEST(Caveats, RemediesForLostPhotons) {
  Counted some;
  some.add(Phase::lost, 1);
  const auto advises = [&](JumpsUse jumps) {
    const Caveats c = caveats_of(some.tally, {}, {.requested = 1, .jumps = jumps});
    return c.printed.at(0).find("acceleration.jumps: true") != std::string::npos;
  };
  EXPECT_TRUE(advises(JumpsUse::off));
  EXPECT_FALSE(advises(JumpsUse::on));
  EXPECT_FALSE(advises(JumpsUse::off_by_limit));
}

TEST(Caveats, WhatIsLostIsComparedWithWhatWasSentOut) {
  Counted some;
  some.add(Phase::escaped, 100, 0, 1e-3, 9);  // an escape fraction of 1e-4
  some.add(Phase::lost, 1, 0, 1);
  EXPECT_FALSE(is_reliable(some.tally)) << "0.1 % of the emitted light, 91 % of what left the sources";
}

TEST(Caveats, LightBeyondARangeIsOfThatSpectrum) {
  Counted some;
  some.add(Phase::escaped, 999);
  some.add(Phase::escaped, 1, 5);
  EXPECT_TRUE(some.caveats().empty());  // a thousandth
  some.add(Phase::escaped, 1, -5);
  ASSERT_EQ(some.caveats().size(), 1u);
  EXPECT_TRUE(some.caveats()[0].starts_with("spectrum narrow: 0.2 %")) << some.caveats()[0];
  some.add(Phase::absorbed, 5000, -5);  // not in the spectrum
  EXPECT_EQ(some.caveats().size(), 1u);
}

/// 25 photons in a bin have an error of 20 %.
TEST(Caveats, AFewPhotonsAreNoisy) {
  Counted some;
  some.add(Phase::escaped, 24);
  ASSERT_EQ(some.caveats().size(), 1u);
  EXPECT_TRUE(some.caveats()[0].starts_with("spectrum narrow: noisy (100 %")) << some.caveats()[0];
  some.add(Phase::escaped, 1);
  EXPECT_TRUE(some.caveats().empty());
}

/// An aperture that misses the object has no light at all, neither within nor beyond its range; stopped photons are
/// among what observers see.
TEST(Caveats, AnObserverWhoSeesNothingIsTold) {
  SpectrumOutput dark{.name = "dark", .axis = config::Axis::x, .low = -1, .high = 1, .bins = 2};
  dark.sight.observer = "o", dark.sight.estimator = config::Estimator::escaped, dark.sight.within = 3;
  const auto caveats = [&](double aperture) {
    dark.aperture = Aperture{aperture, 0.5};
    const std::vector<config::Observer> observers{{"o", {0, 0, 1}, {0, 1, 0}}};
    Tally tally{{dark}, {[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }, 1, observers}, 1e4, 1e4};
    for (const Phase fate : {Phase::escaped, Phase::stopped}) {
      Photon p{};
      p.fate = fate, p.weight = 1, p.direction[2] = 1, p.position[0] = 3;
      tally.start(1, 1), tally.accept(p);
    }
    return caveats_of(tally, tally.light_of_outputs(), {2, ""}).stored;
  };
  ASSERT_EQ(caveats(1).size(), 1u);
  EXPECT_TRUE(caveats(1)[0].starts_with("spectrum dark: no light, though 2 erg/s"));
  ASSERT_EQ(caveats(4).size(), 1u);
  EXPECT_NE(caveats(4)[0].find("noisy"), std::string::npos) << "of two photons";
}

/// A spectrum of one bin, by photons of weight 1 and `bright` ones of weight 1000 that escape towards an observer.
TEST(Caveats, ErrorsThatCannotBeTrustedAreNamed) {
  const auto caveats = [](int photons, int bright, int outputs = 1) {
    SpectrumOutput seen{.name = "seen", .axis = config::Axis::x, .low = -1, .high = 1, .bins = 1};
    seen.sight.observer = "o", seen.sight.estimator = config::Estimator::escaped, seen.sight.within = 3;
    const std::vector<config::Observer> observers{{"o", {0, 0, 1}, {0, 1, 0}}};
    const std::vector<AnyOutput> list(std::size_t(outputs), seen);
    Tally tally{list, {[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }, 1, observers}, 1e5, 1e8};
    for (int i = 0; i < photons; ++i) {
      Photon p{};
      p.id = std::uint64_t(i), p.fate = Phase::escaped, p.weight = i < bright ? 1000 : 1, p.direction[2] = 1;
      if (i % 2 == 0) p.direction[0] = 0.1, p.frequency_final = 5 * double(i % 3);  // some are beyond the range
      tally.start(p.weight, p.weight), tally.accept(p);
    }
    Caveats caveats = caveats_of(tally, tally.light_of_outputs(), {tally.photons(), ""});
    const auto is_other = [](const std::string& text) { return text.find("noisy") == std::string::npos; };
    std::erase_if(caveats.stored, is_other), std::erase_if(caveats.printed, is_other);
    return caveats;
  };
  EXPECT_TRUE(caveats(10000, 0).stored.empty());
  const Caveats one = caveats(10000, 2);
  ASSERT_EQ(one.stored.size(), 1u);
  EXPECT_EQ(one.printed, one.stored);
  EXPECT_TRUE(one.stored[0].starts_with("spectrum seen: noisy (100 %")) << one.stored[0];
  for (const int outputs : {6, 1000}) {
    const Caveats many = caveats(10000, 2, outputs);
    EXPECT_EQ(many.stored.size(), outputs == 6 ? 6u : 101u);
    ASSERT_EQ(many.printed.size(), 1u);
    EXPECT_LE(many.printed[0].size(), 225u) << many.printed[0];
    EXPECT_NE(many.printed[0].find(outputs == 6 ? "and 2 more" : "and 996 more"), std::string::npos) << many.printed[0];
  }
}

TEST(Caveats, ARunThatWasCutIsBiasedOnlyByWhatIsInFlight) {
  Counted some;
  some.add(Phase::escaped, 30);
  EXPECT_FALSE((Ending{31, ""}.complete(some.tally)));
  const auto first = [&] { return caveats_of(some.tally, some.tally.light_of_outputs(), {31, ""}).stored.at(0); };
  EXPECT_NE(first().find("not biased"), std::string::npos);
  some.add(Phase::fly, 1);
  EXPECT_FALSE((Ending{31, ""}.complete(some.tally)));
  EXPECT_NE(first().find("the result is biased"), std::string::npos);
  EXPECT_EQ(caveats_of(some.tally, some.tally.light_of_outputs(), {31, "full"}).stored.size(), 2u);
}

}  // namespace
}  // namespace thor
