// One scattering off an atom: the outgoing frequency against an independent code and against theory.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/interactors/numerics.hpp"
#include "thor/interactors/resonant_line.hpp"
#include "thor/random/xoshiro.hpp"
#ifndef THOR_SHARED
#define THOR_SHARED "../shared"
#endif

namespace redistribution_test {

using std::vector;
using test::stream;
using thor::NativePack, thor::RealOf, thor::Value;

constexpr double isotropic = 0, core = 1. / 12, dipole = 1. / 4;

struct Case {
  double a, x;
  double quarter_E_core = core, quarter_E_wing = dipole, recoil = 0;
};

template <class Real>
thor::ResonantLine<Real> line_of(const Case& c) {
  thor::ResonantLine<Real> line{};
  line.a = Real(c.a), line.inv_a = Real(1 / c.a), line.log_envelope = Real(std::log1p(4.4 * 4.4 / (c.a * c.a)));
  line.recoil = Real(c.recoil);
  line.core = thor::dipole_mixture<Real>(c.quarter_E_core), line.wing = thor::dipole_mixture<Real>(c.quarter_E_wing);
  return line;
}

/// Many scatterings of the same photon: the outgoing photons, and eval() for uniform directions with the same atoms.
struct Scatterings {
  vector<double> x, mu, parallel, quarter_E;
  vector<double> look_mu, look_weight, look_x;
  double largest_mismatch = 0;  ///< between the frequency of sample() and that of eval() in the same direction
};

template <class V>
Scatterings scatter(const Case& c, std::size_t size, std::uint64_t seed) {
  using Real = RealOf<V>;
  constexpr int n = Value<V>::lanes;
  const auto line = line_of<Real>(c);
  const thor::ResonantLineView<V> view{line};
  auto random = stream<V>(seed);
  const V x = V(Real(c.x)), gaussian = thor::exp(-x * x);
  Scatterings s;
  while (s.x.size() < size) {
    const auto choice = random.next(), proposal = random.next();
    const auto radius = random.next(), angle = random.next(), first = random.next(), second = random.next();
    const auto target = view.target(x);
    const auto more = view.draw(random);
    const auto atom = view.prepare(thor::DefaultSchemes{}, target, gaussian, {choice, proposal}, more, random);
    const V perpendicular = thor::sample_perpendicular_velocity(V(Real(0)), {thor::uniform_positive<V>(radius), angle});
    const auto out = view.sample(target, atom, perpendicular, {first, second}, more);
    const auto same = view.eval(target, atom, perpendicular, out.mu);
    const V even = thor::fma(thor::uniform<V>(random.next()), V(Real(2)), V(Real(-1)));
    const auto look = view.eval(target, atom, perpendicular, even);

    Real lanes[9][n];
    const V accepted = thor::select(atom.accepted, V(Real(1)), V(Real(0)));
    thor::store(accepted, lanes[0]), thor::store(out.x, lanes[1]), thor::store(out.mu, lanes[2]);
    thor::store(atom.parallel, lanes[3]), thor::store(atom.phase.quarter_E, lanes[4]);
    thor::store(thor::abs(same.x - out.x), lanes[5]);
    thor::store(even, lanes[6]), thor::store(look.weight, lanes[7]), thor::store(look.x, lanes[8]);
    for (int i = 0; i < n; ++i) {
      if (lanes[0][i] == 0) continue;
      s.x.push_back(double(lanes[1][i])), s.mu.push_back(double(lanes[2][i]));
      s.parallel.push_back(double(lanes[3][i])), s.quarter_E.push_back(double(lanes[4][i]));
      s.largest_mismatch = std::max(s.largest_mismatch, double(lanes[5][i]));
      s.look_mu.push_back(double(lanes[6][i])), s.look_weight.push_back(double(lanes[7][i]));
      s.look_x.push_back(double(lanes[8][i]));
    }
  }
  return s;
}

/// <f(u)> over p(u) ~ e^{-u^2}/((x-u)^2 + a^2): near the resonance in theta = atan((u - x)/a), where the peak is flat,
/// plainly elsewhere.
template <class F>
double expectation(double a, double x, F&& f) {
  constexpr double near = 0.2;
  const auto pdf = [&](double u) { return std::exp(-u * u) / ((x - u) * (x - u) + a * a); };
  double sum = 0, weight = 0;
  const auto add = [&](double u, double w) { sum += w * f(u), weight += w; };
  const double reach = std::atan(near / a);
  constexpr int n = 20'000;
  for (int i = 0; i < n; ++i) {
    const double theta = reach * (2 * (i + 0.5) / n - 1), u = x + a * std::tan(theta);
    add(u, std::exp(-u * u) / a * 2 * reach / n);  // du = ((x-u)^2 + a^2)/a dtheta
    const double below = -8 + (x - near + 8) * (i + 0.5) / n, above = x + near + 8 * (i + 0.5) / n;
    add(below, pdf(below) * (x - near + 8) / n), add(above, pdf(above) * 8 / n);
  }
  return sum / weight;
}

template <class V>
struct RedistributionTest : testing::Test {};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(RedistributionTest, Values);

struct Reference {
  const char* name;
  double x, quarter_E;
  double wrong_x;      ///< distinguished by 70,000 samples; near x = 0 the outgoing x depends on x only to second order
  double wrong_phase;  ///< p-value below which the other phase function falls: the two are closest at x = 4
};
constexpr Reference references[] = {{"isotropic_x0", 0, isotropic, 0.3, 1e-6},
                                    {"isotropic_x3", 3, isotropic, 3.1, 1e-6},
                                    {"dipole_x1", 1, dipole, 1.1, 1e-6},
                                    {"dipole_x4", 4, dipole, 4.1, 1e-5}};

// 70,000 outgoing x each from Iltis at T = 2.74 K.
TYPED_TEST(RedistributionTest, AgreesWithIltis) {
  const double a = 4.702e-4 * std::sqrt(1e4 / 2.74);
  for (const Reference& r : references) {
    const std::string path = std::string(THOR_SHARED) + "/reference/iltis_redistribution_" + r.name + ".txt";
    std::ifstream file(path);
    if (!file) GTEST_SKIP() << "SKIPPED: no " << path;
    vector<double> theirs;
    for (double x; file >> x;) theirs.push_back(x);
    ASSERT_EQ(theirs.size(), 70'000u) << path;
    const auto p = [&](double x, double quarter_E, std::size_t size) {
      const auto ours = scatter<TypeParam>({a, x, quarter_E, quarter_E}, size, 71).x;
      return test::ks_p(test::ks_distance(ours, theirs), double(ours.size()), double(theirs.size()));
    };
    EXPECT_GT(p(r.x, r.quarter_E, 1'000'000), 1e-3) << r.name;
    EXPECT_LT(p(r.wrong_x, r.quarter_E, theirs.size()), 1e-6) << r.name;
    EXPECT_LT(p(r.x, dipole - r.quarter_E, 1'000'000), r.wrong_phase) << r.name;
  }
}

void expect_mean(const vector<double>& values, double expected, const char* what, double x) {
  const auto m = test::moments(values);
  EXPECT_LT(std::abs(m.mean - expected), 4 * m.error) << what << " at x = " << x << ": " << m.mean << ", " << expected;
}
vector<double> differences(const vector<double>& values, double from, int power) {
  vector<double> result;
  for (const double v : values) result.push_back(std::pow(v - from, power));
  return result;
}

constexpr double a_1e4 = 4.7e-4;  // T = 1e4 K
constexpr std::size_t size = 200'000;

// <x_out - x> = -<u>, since <mu> = 0; <(x_out - x)^2> = <u^2> (1 + <mu^2>) + 1/2 (1 - <mu^2>). In the far wing,
// where <u^2> = 1/2, that is -1/x and 1 (Osterbrock 1962, ApJ 135, 195).
TYPED_TEST(RedistributionTest, MeanAndVarianceOfTheShift) {
  for (const double quarter_E : {isotropic, dipole}) {
    for (const double x : {0., 0.5, 1., 2.5, 4., 10., 30., -10.}) {
      const auto s = scatter<TypeParam>({a_1e4, x, quarter_E, quarter_E}, size, 81);
      const double ax = std::abs(x), sign = x < 0 ? -1 : 1;
      const double u = sign * expectation(a_1e4, ax, [](double v) { return v; });
      const double u2 = expectation(a_1e4, ax, [](double v) { return v * v; });
      const double mu2 = 1. / 3 + quarter_E * 4 / 15;
      expect_mean(s.parallel, u, "u", x);
      expect_mean(differences(s.x, x, 1), -u, "shift", x);
      expect_mean(differences(s.x, x, 2), u2 * (1 + mu2) + 0.5 * (1 - mu2), "squared shift", x);
      if (ax >= 10) {
        EXPECT_NEAR(u * x, 1, 3 / (x * x)) << x;
        EXPECT_NEAR(u2 * (1 + mu2) + 0.5 * (1 - mu2), 1, 5 / (x * x)) << x;
        // A shift away from the line, or none, is rejected.
        const auto shift = test::moments(differences(s.x, x, 1));
        EXPECT_GT(std::abs(shift.mean - u), 8 * shift.error) << x;
        EXPECT_GT(std::abs(shift.mean), 8 * shift.error) << x;
      }
    }
  }
}

TYPED_TEST(RedistributionTest, RecoilShiftsTheMean) {
  for (const double x : {0., 3.}) {
    const double recoil = 0.1;
    const auto with = scatter<TypeParam>({a_1e4, x, core, dipole, recoil}, size, 91);
    const auto without = scatter<TypeParam>({a_1e4, x}, size, 91);
    double worst = 0;
    vector<double> shift;
    for (std::size_t i = 0; i < size; ++i) {
      shift.push_back(with.x[i] - without.x[i]);
      worst = std::max(worst, std::abs(shift.back() + recoil * (1 - with.mu[i])));
    }
    EXPECT_LT(worst, 32 * std::numeric_limits<RealOf<TypeParam>>::epsilon()) << x;
    expect_mean(shift, -recoil, "recoil", x);
  }
}

// The phase function depends on the detuning in the atom's frame: |x - u| < 0.2 is core.
TYPED_TEST(RedistributionTest, CoreAndWingByTheAtomsFrame) {
  for (const double x : {0., 2., 3., 3.5, 5.}) {
    const auto s = scatter<TypeParam>({a_1e4, x}, size, 95);
    const double share = expectation(a_1e4, x, [&](double u) { return std::abs(x - u) < 0.2 ? 1. : 0.; });
    vector<double> in_core, squares;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      const double detuning = std::abs(x - s.parallel[i]);
      in_core.push_back(s.quarter_E[i] < 0.1 ? 1 : 0);
      ASSERT_TRUE(std::abs(detuning - 0.2) < 1e-5 || (detuning < 0.2) == (in_core.back() == 1)) << x << " " << detuning;
      squares.push_back(s.mu[i] * s.mu[i]);
    }
    const double error = std::sqrt(share * (1 - share) / double(size));
    EXPECT_NEAR(test::moments(in_core).mean, share, 4 * error + 1e-5) << x;
    expect_mean(squares, 1. / 3 + 4. / 15 * (share * core + (1 - share) * dipole), "mu^2", x);
  }
}

// Uniform directions weighted by eval() follow the distribution of sample().
TYPED_TEST(RedistributionTest, EvalIsThePdfOfSample) {
  for (const double x : {0., 2.5, 3., 8.}) {
    const auto s = scatter<TypeParam>({a_1e4, x, core, dipole, 0.01}, 2 * size, 97);
    EXPECT_LT(s.largest_mismatch, 16 * std::numeric_limits<RealOf<TypeParam>>::epsilon() * (x + 5)) << x;
    expect_mean(s.look_weight, 1, "weight", x);
    constexpr int bins = 20;
    std::array<double, bins> sampled{}, looked{}, squared{};
    vector<double> weighted_x;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      sampled[std::min(bins - 1, int((s.mu[i] + 1) / 2 * bins))] += 1;
      const int bin = std::min(bins - 1, int((s.look_mu[i] + 1) / 2 * bins));
      looked[bin] += s.look_weight[i], squared[bin] += s.look_weight[i] * s.look_weight[i];
      weighted_x.push_back(s.look_weight[i] * (s.look_x[i] - x));
    }
    double chi2 = 0, against_even = 0;
    const double even = double(s.x.size()) / bins;
    for (int b = 0; b < bins; ++b) {
      chi2 += std::pow(sampled[b] - looked[b], 2) / (sampled[b] + squared[b]);
      against_even += std::pow(sampled[b] - even, 2) / even;
    }
    EXPECT_GT(test::chi_square_p(chi2, bins), 1e-3 / 16) << x;
    EXPECT_LT(test::chi_square_p(against_even, bins), 1e-6) << x;
    const auto drawn = test::moments(differences(s.x, x, 1)), seen = test::moments(weighted_x);
    EXPECT_LT(std::abs(drawn.mean - seen.mean), 4 * std::hypot(drawn.error, seen.error)) << x;
  }
}

}  // namespace redistribution_test
