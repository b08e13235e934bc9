// The velocity of the scattering atom along the photon against p(u) ~ e^{-u^2}/((x-u)^2 + a^2).
#include "thor/distributions/parallel_velocity.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#ifdef THOR_HAVE_CERF
#include <cerf.h>
#endif

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/random/xoshiro.hpp"

namespace {

using std::vector;
using test::stream;
using thor::NativePack, thor::ParallelVelocity, thor::RealOf, thor::Value;

struct Target {
  double a, x;
  double operator()(double u) const { return std::exp(-u * u) / ((x - u) * (x - u) + a * a); }
};

std::size_t bin_of(double u, const vector<double>& edges) {
  return std::size_t(std::upper_bound(edges.begin(), edges.end(), u) - edges.begin());
}

/// Masses below the first edge, between the edges, above the last: Gauss-Legendre on pieces that grow geometrically
/// away from the resonance, so that the poles at x +- ia are far from each of them.
vector<double> masses(const Target& target, const vector<double>& edges) {
  constexpr double end = 9;  // e^{-81}
  vector<double> cuts{-end, end};
  for (const double e : edges) cuts.push_back(std::clamp(e, -end, end));
  for (double u = -end; u < end; u += 0.125) cuts.push_back(u);
  for (double y = 0.1 * target.a; y < 2 * end; y *= 1.5)
    for (const double u : {target.x - y, target.x + y})
      if (std::abs(u) < end) cuts.push_back(u);
  std::sort(cuts.begin(), cuts.end());
  constexpr double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  vector<double> mass(edges.size() + 1, 0.);
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const double half = 0.5 * (cuts[i] - cuts[i - 1]), mid = cuts[i - 1] + half;
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += weight[k] * (target(mid - half * node[k]) + target(mid + half * node[k]));
    mass[bin_of(mid, edges)] += half * sum;
  }
  return mass;
}
double norm(const Target& target) { return masses(target, {})[0]; }

/// Where a bin may end: between two numbers of the sampler's precision, so that u = x - y, rounded, stays in its bin.
double between(double u, bool single) {
  if (!single) return u;
  const float below = float(u);
  return 0.5 * (double(below) + double(std::nextafter(below, 10.f)));
}

/// Half decades about the resonance from a/10 on, and a grid over the Gaussian.
vector<double> bin_edges(const Target& target, bool single) {
  vector<double> edges;
  for (double u = -5; u <= 5; u += 0.25) edges.push_back(between(u, single));
  for (double y = 0.1 * target.a; y < 5; y *= std::sqrt(10.))
    for (const double u : {target.x - y, target.x + y})
      if (std::abs(u) < 5) edges.push_back(between(u, single));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

struct Comparison {
  double chi2 = 0;
  int freedom = -1;
  double p() const { return test::chi_square_p(chi2, freedom); }
};

/// Chi-square of counts against masses of any norm; bins are merged up to an expectation of 20.
Comparison compare(const vector<double>& seen, const vector<double>& mass) {
  double n = 0, sum = 0, e = 0, o = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) n += seen[i], sum += mass[i];
  Comparison result;
  double left = n;  // expected in the bins to come: the last one takes what is too little for a bin of its own
  for (std::size_t i = 0; i < mass.size(); ++i) {
    e += mass[i] * n / sum, o += seen[i], left -= mass[i] * n / sum;
    if ((e < 20 || left < 20) && i + 1 < mass.size()) continue;
    result.chi2 += (o - e) * (o - e) / e, ++result.freedom;
    e = o = 0;
  }
  return result;
}

vector<double> histogram(const vector<double>& samples, const vector<double>& edges) {
  vector<double> seen(edges.size() + 1, 0.);
  for (const double u : samples) seen[bin_of(u, edges)] += 1;
  return seen;
}

/// As drivers/setup.cpp makes it.
template <class V>
ParallelVelocity<V> sampler(double a) {
  using Real = RealOf<V>;
  return {V(Real(a)), V(Real(1 / a)), V(Real(std::log1p(4.4 * 4.4 / (a * a))))};
}
template <class V>
Target target_of(double a, double x) {
  return {double(RealOf<V>(a)), double(RealOf<V>(x))};
}

struct Draw {
  vector<double> u;  ///< accepted
  double proposals = 0;
  double acceptance() const { return double(u.size()) / proposals; }
};

template <class V>
Draw draw(double a, double x, int proposals, std::uint64_t seed) {
  using Real = RealOf<V>;
  constexpr int n = Value<V>::lanes;
  const auto distribution = sampler<V>(a);
  auto random = stream<V>(seed);
  const V vx = V(Real(x)), gaussian = thor::exp(-vx * vx);
  Draw result;
  result.u.reserve(std::size_t(proposals));
  Real u[n], accepted[n];
  for (; result.proposals < proposals; result.proposals += n) {
    const auto choice = random.next(), word = random.next();
    const auto proposal = distribution.propose(vx, gaussian, {choice, word}, random);
    thor::store(proposal.u, u);
    thor::store(thor::select(proposal.accepted, V(Real(1)), V(Real(0))), accepted);
    for (int lane = 0; lane < n; ++lane)
      if (accepted[lane] != 0) result.u.push_back(double(u[lane]));
  }
  return result;
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
std::uint64_t seed_of(double a, double x) { return std::uint64_t(1e7 * a + 1e4 * (x + 1000)); }
std::string label(double a, double x) { return testing::PrintToString(std::array<double, 2>{a, x}) + " (a, x)"; }

template <class V>
struct ParallelVelocityTest : testing::Test {
  static constexpr bool single = sizeof(RealOf<V>) == 4;
};
using Values = testing::Types<float, double, NativePack<float>, NativePack<double>>;
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
