// The velocity of the scattering atom along the photon against p(u) ~ e^{-u^2}/((x-u)^2 + a^2).
#include "thor/distributions/parallel_velocity.hpp"

#include <gtest/gtest.h>

#include <array>
#ifdef THOR_HAVE_CERF
#include <cerf.h>
#endif

#include "support/parallel_velocity.hpp"

namespace {

using std::vector;
using test::between, test::bin_edges, test::compare, test::Comparison, test::Draw, test::histogram, test::label;
using test::masses, test::norm, test::seed_of, test::stream, test::Target, test::target_of;
using thor::NativePack, thor::ParallelVelocity, thor::RealOf, thor::Value;

/// As drivers/mcrt/setup.cpp makes it.
template <class V>
ParallelVelocity<V> sampler(double a) {
  using Real = RealOf<V>;
  return {V(Real(a)), V(Real(1 / a)), V(Real(std::log1p(4.4 * 4.4 / (a * a))))};
}
template <class V>
Draw draw(double a, double x, int proposals, std::uint64_t seed) {
  return test::draw<V>(sampler<V>(a), x, proposals, seed);
}

/// The three envelopes, again and in double: their masses and acceptance.
struct Envelope {
  Target t;
  double gaussian, slope, u2 = -1e10, q = 0, height = 0, sigma_left = 0, sigma_right = 0;
  std::array<double, 4> mass{};  ///< peak, log, wing left and right of the mode

  explicit Envelope(const Target& target) : t(target), gaussian(std::exp(-t.x * t.x)) {
    const bool wing = t.x >= 2.2;
    slope = wing ? 10.2 * t.x * gaussian : std::min(0.86, 1.3575 - 0.398 * t.x);
    mass = {M_PI * gaussian / t.a, 0.5 * slope * std::log1p(4.4 * 4.4 / (t.a * t.a)), 0, 0};
    if (!wing) return;
    u2 = 0.5 * (t.x + std::sqrt(t.x * t.x - 4)), q = 1 / u2;
    const double s = q * q;
    height = s * (1 - s + 0.5 * s * s);
    sigma_left = 1 + s * (0.5 + s * (0.375 + s * 0.6));
    sigma_right = 1.0025 * (1 + q * (0.08051006 + q * (3.52444483 + q * (-6.32453207 + q * 6.1259843))));
    mass[2] = 0.5 * std::sqrt(M_PI) * height * sigma_left, mass[3] = 0.5 * std::sqrt(M_PI) * height * sigma_right;
  }
  double total() const { return mass[0] + mass[1] + mass[2] + mass[3]; }
  /// Target over envelope of a part, where that part is used; `u` lies on the part's side of the mode.
  double ratio(int part, double u) const {
    const double y = t.x - u, d = (u - q) / (part == 2 ? sigma_left : sigma_right);
    if ((part < 2) != (u >= u2) || (part == 1 && std::abs(u) >= t.x)) return 0;
    if (part == 0) return std::exp(std::min(y * (t.x + u), 0.));  // e^{-u^2}, at most e^{-x^2}
    if (part == 1) return gaussian * std::expm1(y * (t.x + u)) / (slope * y);
    return std::exp(d * d - u * u) / (height * (y * y + t.a * t.a));
  }
};

constexpr double voigt_parameters[] = {1e-6, 1e-4, 4.7e-4, 1e-2, 0.1};
constexpr double frequencies[] = {0, 0.3, 1, 2, 2.19, 2.21, 2.5, 3, 3.5, 4, 5, 8, 20, 200, -0.3, -2.19, -2.5, -4, -20};
constexpr int cases = 5 * 19 * 4;

int sample_size(double x) { return std::abs(x) > 100 ? 1'000'000 : 100'000; }  // to tell x = 200 from x = -200

template <class V>
struct ParallelVelocityTest : testing::Test {
  static constexpr bool single = sizeof(RealOf<V>) == 4;
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(ParallelVelocityTest, Values);

TYPED_TEST(ParallelVelocityTest, FollowsItsPdfAndNoOther) {
  using V = TypeParam;
  Comparison all{0, 0};
  for (const double a : voigt_parameters) {
    for (const double x : frequencies) {
      const vector<double> u = draw<V>(a, x, sample_size(x), seed_of(a, x) + sizeof(V)).u;
      const Target truth = target_of<V>(a, x);
      const auto edges = bin_edges(truth, this->single);
      const Comparison right = compare(histogram(u, edges), masses(truth, edges));
      EXPECT_GT(right.p(), 1e-3 / cases) << label(a, x) << " chi2 " << right.chi2 << " / " << right.freedom;
      all.chi2 += right.chi2, all.freedom += right.freedom;
      // Twins: what a chi-square of this size can see, by its non-centrality, the samples must reject.
      int detectable = 0;
      for (const Target wrong :
           {Target{truth.a, truth.x + 0.05}, {truth.a, truth.x + 0.3}, {1.3 * truth.a, truth.x}, {truth.a, -truth.x}}) {
        const auto wrong_edges = bin_edges(wrong, this->single);
        const auto wrong_mass = masses(wrong, wrong_edges);
        auto ideal = masses(truth, wrong_edges);
        const double scale = double(u.size()) / norm(truth);
        for (double& m : ideal) m *= scale;
        if (compare(ideal, wrong_mass).chi2 < 150) continue;
        ++detectable;
        EXPECT_LT(compare(histogram(u, wrong_edges), wrong_mass).p(), 1e-6)
            << label(a, x) << " taken for " << label(wrong.a, wrong.x);
      }
      EXPECT_GE(detectable, std::abs(x) < 2.6 ? 2 : 1) << label(a, x);
    }
  }
  EXPECT_GT(all.p(), 1e-3) << "all cases: chi2 " << all.chi2 << " / " << all.freedom;
  EXPECT_LT(all.p(), 1 - 1e-3) << "too good: chi2 " << all.chi2 << " / " << all.freedom;
}

TYPED_TEST(ParallelVelocityTest, AcceptanceIsTargetOverEnvelope) {
  using V = TypeParam;
  vector<double> grid{2.19, 2.199, 2.201, 2.21, 10, 20, 50, 100, 200};
  for (int i = 0; i <= 40; ++i) grid.push_back(0.2 * i);
  double squares = 0, n = 0;
  for (const double a : {1e-6, 1e-5, 1e-4, 4.7e-4, 2e-3, 1e-2, 3e-2, 0.1}) {
    for (const double x : grid) {
      const Target target = target_of<V>(a, x);
      const double expected = norm(target) / Envelope(target).total();
      const Draw sample = draw<V>(a, x, 20'000, 7 * seed_of(a, x) + sizeof(V));
      const double error = std::sqrt(expected * (1 - expected) / sample.proposals + 1e-12);
      const double z = (sample.acceptance() - expected) / error;
      EXPECT_LT(std::abs(z), 5.2) << label(a, x) << ": " << sample.acceptance() << " for " << expected;
      squares += z * z, n += 1;
    }
  }
  EXPECT_GT(test::chi_square_p(squares, n), 1e-3) << squares << " / " << n;
}

// The tangent of an angle near pi/2: the wings of the peak, out to 1e5 a.
TYPED_TEST(ParallelVelocityTest, LorentzianWingsArePopulated) {
  using V = TypeParam;
  constexpr double a = 1e-6;
  for (const double x : {0., 1., 2., 3.}) {
    const Target target = target_of<V>(a, x);
    const Draw sample = draw<V>(a, x, 3'000'000, 5 + std::uint64_t(x));
    const double n = double(sample.u.size());
    for (double y = 10 * a; y < 0.2; y *= 10) {
      for (const double side : {-1., 1.}) {
        const double edge = between(target.x + side * y, this->single);
        const auto mass = masses(target, {edge});
        const double share = mass[side > 0] / (mass[0] + mass[1]);
        const auto beyond = [&](double u) { return (u > edge) == (side > 0); };
        const double seen = double(std::count_if(sample.u.begin(), sample.u.end(), beyond));
        EXPECT_NEAR(seen, n * share, 4.5 * std::sqrt(n * share * (1 - share)) + 1) << label(a, x) << ", y = " << y;
      }
    }
  }
}

// A lane is the scalar, whatever its neighbours and for the extreme words too; -x with the same words gives -u.
TYPED_TEST(ParallelVelocityTest, LanesAreAloneAndMirrored) {
  using V = TypeParam;
  using Real = RealOf<V>;
  using Word = thor::WordOf<V>;
  constexpr int n = Value<V>::lanes;
  constexpr std::uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffffff};
  auto random = stream<double>(31);
  for (const double a : voigt_parameters) {
    for (int i = 0; i < 20'000; ++i) {
      std::uint32_t w[4][n];
      Real x[n], u[n], mirrored[n], accepted[n];
      for (int lane = 0; lane < n; ++lane) {
        x[lane] = Real(frequencies[random.next() % 14]);
        for (int k = 0; k < 4; ++k) w[k][lane] = random.next();
        if (i % 2 == 0) w[random.next() % 4][lane] = extremes[random.next() % 6];
      }
      const typename ParallelVelocity<V>::Draws words{thor::load<Word>(w[0]), thor::load<Word>(w[1])};
      thor::Xoshiro128<V> state{thor::load<Word>(w[2]), thor::load<Word>(w[3]), Word(1u), Word(2u)}, same = state;
      const V vx = thor::load<V>(x), gaussian = thor::exp(-vx * vx);
      const auto right = sampler<V>(a).propose(vx, gaussian, words, state);
      const auto left = sampler<V>(a).propose(-vx, gaussian, words, same);
      std::uint32_t state_after[n];
      thor::store(state.s0, state_after);
      ASSERT_FALSE(thor::any(right.accepted != left.accepted));
      thor::store(right.u, u), thor::store(left.u, mirrored);
      thor::store(thor::select(right.accepted, V(Real(1)), V(Real(0))), accepted);
      for (int lane = 0; lane < n; ++lane) {
        thor::Xoshiro128<Real> mine{w[2][lane], w[3][lane], 1u, 2u};
        const auto alone =
            sampler<Real>(a).propose(x[lane], thor::exp(-x[lane] * x[lane]), {w[0][lane], w[1][lane]}, mine);
        ASSERT_EQ(mine.s0, state_after[lane]);
        ASSERT_EQ(mine.s0 != w[2][lane], std::abs(x[lane]) >= 2.2) << "a word is drawn in the wing, and only there";
        ASSERT_EQ(accepted[lane] != 0, alone.accepted)
            << label(a, x[lane]) << std::hex << " words " << w[0][lane] << " " << w[1][lane] << " " << w[2][lane];
        if (!alone.accepted) continue;
        ASSERT_TRUE(std::isfinite(u[lane])) << label(a, x[lane]);
        ASSERT_EQ(u[lane], alone.u) << label(a, x[lane]);
        ASSERT_EQ(u[lane], -mirrored[lane]) << label(a, x[lane]);
      }
    }
  }
}

TEST(ParallelVelocityEnvelope, LiesAboveTheTarget) {
  vector<double> grid{2.19999, 2.2, 2.20001, 200};
  for (double x = 0; x < 8; x += 0.0125) grid.push_back(x);
  for (double x = 8; x < 250; x *= 1.1) grid.push_back(x);
  double highest = 0;
  for (const double a : {1e-6, 1e-5, 1e-4, 4.7e-4, 1e-3, 1e-2, 3e-2, 0.1}) {
    double lowest = 1, where = 0;
    for (const double x : grid) {
      const Target target{a, x};
      const Envelope envelope(target);
      for (int i = -1000; i <= 1000; ++i) {
        const double u = std::min(x, 8.) * i / 1000;
        highest = std::max(highest, envelope.ratio(u >= envelope.u2 ? 1 : u < envelope.q ? 2 : 3, u));
      }
      ASSERT_LE(highest, 1 + 1e-6) << label(a, x);
#ifdef THOR_HAVE_CERF
      ASSERT_NEAR(norm(target) / (M_PI / a * re_w_of_z(x, a)), 1, 1e-9) << label(a, x);
#endif
      const double acceptance = norm(target) / envelope.total();
      if (acceptance < lowest) lowest = acceptance, where = x;
    }
    EXPECT_GE(lowest, a <= 4.7e-4 ? 0.92 : a <= 1e-2 ? 0.56 : 0.1) << label(a, where);
  }
  EXPECT_GT(highest, 0.99) << "tight nowhere: is this the envelope?";
}

// The sampler's acceptance, found by bisection in the word that decides it, is the ratio above.
TEST(ParallelVelocityEnvelope, IsTheSamplers) {
  auto random = stream<double>(77);
  for (const double a : {1e-6, 4.7e-4, 1e-2, 0.1}) {
    for (const double x : {0.3, 1., 2., 2.19, 2.21, 2.5, 3., 5., 20., 200.}) {
      const Envelope envelope(Target{a, x});
      double below = 0;
      for (const int part : {1, 0, 2, 3}) {
        const double from = below / envelope.total(), share = envelope.mass[std::size_t(part)] / envelope.total();
        below += envelope.mass[std::size_t(part)];
        if (share < 1e-4) continue;
        for (int i = 0; i < 200; ++i) {
          const auto word = random.next();
          const auto state = random;
          std::uint64_t accepted = std::uint64_t(from * 0x1p32) + 2;
          std::uint64_t rejected = std::uint64_t((from + share) * 0x1p32) - 2;
          const std::uint64_t last = rejected;
          double u = 0;
          while (rejected - accepted > 2) {
            const auto choice = std::uint32_t((accepted + rejected) / 2);
            auto copy = state;
            const auto proposal = sampler<double>(a).propose(x, std::exp(-x * x), {choice, word}, copy);
            (proposal.accepted ? accepted : rejected) = choice, u = proposal.u;
          }
          const double ratio = rejected == last ? 1 : (double(accepted) * 0x1p-32 - from) / share;
          ASSERT_NEAR(ratio, envelope.ratio(part, u), 2e-9 / share + 1e-7) << label(a, x) << " part " << part;
        }
      }
    }
  }
}

}  // namespace
