// Collisions with dust, without a lane.
#include "thor/interactors/dust.hpp"

#include <gtest/gtest.h>

#include "support/stream.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

constexpr Dust<double> dust{1, 0.4, 0.6};

TEST(DustCollision, HitsByItsShareAndAbsorbsByItsAlbedo) {
  auto random = xoshiro<double>(stream_key(1, 2));
  const double share = 0.3;
  const int count = 200000;
  int hit = 0, absorbed = 0;
  for (int i = 0; i < count; ++i) {
    const auto c = collide_with_dust<double>(dust, true, share, uniform_positive<double>(random.next()));
    hit += c.hit, absorbed += c.absorbed;
    EXPECT_TRUE(c.hit || !c.absorbed);
  }
  const auto near = [&](int found, double p) {
    return std::abs(found - p * count) < 4 * std::sqrt(p * (1 - p) * count);
  };
  EXPECT_TRUE(near(hit, share)) << hit;
  EXPECT_TRUE(near(absorbed, share * 0.6)) << absorbed;
  EXPECT_FALSE(near(absorbed, share * 0.62)) << "an albedo of 0.38 would be seen";
}

TEST(DustCollision, NeedsAnArrival) {
  const auto c = collide_with_dust<double>(dust, false, 1., 0.1);
  EXPECT_FALSE(c.hit || c.absorbed);
}

TEST(DustCollision, KeepsTheFrequencyAndTurnsByG) {
  auto random = xoshiro<double>(stream_key(1, 3));
  const Outcome<double> by_line{0.25, std::sqrt(1 - 0.0625), 7};
  double sum = 0;
  const int count = 100000;
  for (int i = 0; i < count; ++i) {
    const auto o = scatter_off_dust<double>(dust, by_line, true, -2.5, random.next());
    EXPECT_EQ(o.x, -2.5);
    EXPECT_NEAR(o.mu * o.mu + o.sine * o.sine, 1, 1e-12);
    sum += o.mu;
  }
  EXPECT_NEAR(sum / count, 0.6, 4 * 0.5 / std::sqrt(count));
  const auto untouched = scatter_off_dust<double>(dust, by_line, false, -2.5, random.next());
  EXPECT_EQ(untouched.mu, 0.25);
  EXPECT_EQ(untouched.x, 7);
}

}  // namespace
}  // namespace thor
