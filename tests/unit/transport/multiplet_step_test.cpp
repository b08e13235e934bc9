// State that a lane keeps between steps when it collides with a transition of a multiplet.
#include <gtest/gtest.h>

#include "support/run.hpp"
#include "thor/interactors/build.hpp"
#include "thor/transport/step.hpp"

namespace {

using namespace thor;

// Fe II 2600 decays to 2626, 2586 to 2612 and 2632. A lane that has hit one of them, at the centre of the other, must
// continue with the one it has hit: from 2586 some light goes 5200 km/s to the red, from 2600 none.
template <class V>
struct MultipletStep : testing::Test {
  using Real = RealOf<V>;
  using Int = IntOf<Real>;
  using Problem = MultipletProblem<Shell<Real>>;
  static constexpr int lanes = Value<V>::lanes, count = 4096;

  static Problem problem() {
    const auto config = config::parse(
        "line: FeII_UV1\ndataset: {type: shell, inner_radius: 0.1 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: "
        "10, velocity: {profile: linear, max: 50 km/s}}\ngenerators: [{type: point, photons: 1}]\noutput: {path: "
        "x.h5}\n",
        "test");
    const auto setup = build_setup(config);
    Problem p{};
    p.dataset = convert<Real>(std::get<Shell<double>>(setup.medium.dataset));
    p.line = build_multiplet<Real, false>(setup.line, setup.medium, config.physics);
    p.dust = build_dust<Real>(setup.medium);
    p.limits = {1 << 30, 1 << 30};
    // Close together and strongly damped, so that many proposals are rejected.
    for (int i : {0, 1}) {
      auto& t = p.line.transition[i];
      t.offset = Real(2.6 * i), t.a = Real(0.1), t.inv_a = Real(10), t.log_envelope = Real(std::log1p(1936.));
    }
    return p;
  }

  std::vector<char> memory = std::vector<char>(lane_bytes<Real>(count) + 64);
  LaneArrays<Real> arrays = lane_arrays<Real>(memory.data() + (64 - std::size_t(memory.data()) % 64) % 64, count);

  /// Lanes at rest with respect to the gas, with the frequency at the centre of the transition they did not hit.
  void start(const Problem& p) {
    for (int i = 0; i < count; ++i) {
      const int hit = i % 2;
      arrays.px[i] = Real(0.5), arrays.py[i] = arrays.pz[i] = 0;
      arrays.dx[i] = arrays.dz[i] = 0, arrays.dy[i] = 1;
      arrays.frequency[i] = p.line.transition[1 - hit].offset;
      arrays.tau[i] = Real(0.25), arrays.flown[i] = Real(0.125);
      arrays.column[i] = 1, arrays.column_low[i] = 0;
      arrays.phase[i] = Int(Phase::collide + (hit << phase_bits));
      arrays.place.integer[0][i] = gas, arrays.scatterings[i] = 3, arrays.steps[i] = 7;
      const StreamKey key = stream_key(5, std::uint64_t(i));
      arrays.s0[i] = key.word[0], arrays.s1[i] = key.word[1], arrays.s2[i] = key.word[2], arrays.s3[i] = key.word[3];
    }
  }
  void step_all(const Problem& p) {
    for (int first = 0; first < count; first += lanes) {
      auto lane = load_lane<V, Region<V, IntOf<V>>>(arrays, first);
      step(lane, p);
      store_lane(lane, arrays, first);
    }
  }
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(MultipletStep, Values);

TYPED_TEST(MultipletStep, ARejectedProposalKeepsTheTransition) {
  using Real = RealOf<TypeParam>;
  const auto p = this->problem();
  ASSERT_EQ(p.line.transitions, 2);
  this->start(p);
  auto& lanes = this->arrays;
  int rejections = 0, far[2] = {0, 0}, resonant[2] = {0, 0};
  std::vector<bool> over(this->count, false);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::array<std::uint32_t, 4>> words;
    std::vector<std::int64_t> phases;
    for (int i = 0; i < this->count; ++i) {
      words.push_back({lanes.s0[i], lanes.s1[i], lanes.s2[i], lanes.s3[i]});
      phases.push_back(lanes.phase[i]);
    }
    this->step_all(p);
    for (int i = 0; i < this->count; ++i) {
      if (over[std::size_t(i)]) continue;
      const int hit = i % 2;
      const Real before = p.line.transition[1 - hit].offset;
      ASSERT_EQ(lanes.steps[i], 8 + round);
      ASSERT_EQ(lanes.px[i], Real(0.5)) << "it does not move";
      ASSERT_EQ(lanes.column[i], 1);
      const bool drew = words[std::size_t(i)] != std::array{lanes.s0[i], lanes.s1[i], lanes.s2[i], lanes.s3[i]};
      ASSERT_TRUE(drew);
      if (lanes.phase[i] != Phase::fly) {
        ++rejections;
        ASSERT_EQ(lanes.phase[i], phases[std::size_t(i)]) << "lane " << i;
        ASSERT_EQ(lanes.phase[i] >> phase_bits, hit);
        ASSERT_EQ(lanes.frequency[i], before);
        ASSERT_EQ(lanes.scatterings[i], 3);
        ASSERT_EQ(lanes.tau[i], Real(0.25));
        ASSERT_EQ(lanes.dy[i], Real(1));
        continue;
      }
      over[std::size_t(i)] = true;
      ASSERT_EQ(lanes.scatterings[i], 4);
      ASSERT_EQ(lanes.flown[i], 0);
      const double shift = double(lanes.frequency[i] - before) * -1.7250;  // km/s; the gas moves by up to 25
      far[hit] += std::abs(shift - 5222) < 100 ? 1 : 0;
      resonant[hit] += std::abs(shift) < 100 ? 1 : 0;
    }
  }
  for (const bool o : over) EXPECT_TRUE(o) << "a hundred rejections in a row";
  EXPECT_GT(rejections, 500);
  // Branchings 0.87362 back for 2600; 0.31739 back and 0.22889 to 2632 for 2586.
  const double n = this->count / 2.;
  EXPECT_EQ(far[0], 0);
  EXPECT_NEAR(far[1] / n, 0.22889, 4 * std::sqrt(0.23 * 0.77 / n));
  EXPECT_NEAR(resonant[0] / n, 0.87362, 4 * std::sqrt(0.87 * 0.13 / n));
  EXPECT_NEAR(resonant[1] / n, 0.31739, 4 * std::sqrt(0.32 * 0.68 / n));
}

// Idle or finished lanes stay unchanged, whatever transition the others collide with.
TYPED_TEST(MultipletStep, LanesThatAreOverStay) {
  const auto p = this->problem();
  this->start(p);
  auto& lanes = this->arrays;
  const int phases[] = {Phase::escaped, Phase::absorbed, Phase::lost, Phase::idle};
  for (int i = 0; i < this->count; i += 2) lanes.phase[i] = phases[i / 2 % 4];
  this->step_all(p);
  for (int i = 0; i < this->count; i += 2) {
    ASSERT_EQ(lanes.phase[i], phases[i / 2 % 4]);
    ASSERT_EQ(lanes.steps[i], 7);
    ASSERT_EQ(lanes.scatterings[i], 3);
    ASSERT_EQ(lanes.s0[i], stream_key(5, std::uint64_t(i)).word[0]);
  }
}

}  // namespace
