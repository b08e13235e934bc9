// Multiplets: the oracle against analytic results, then thor against the oracle. The atomic data are repeated here.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "oracle/oracle.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace test;
using oracle::Problem, oracle::Transition;

const std::vector<Transition> mg_ii = {{2796.3543, 0.608, 2.60e8, 24.305, 0.5}, {2803.5315, 0.303, 2.57e8, 24.305, 0}};

/// 3p 2P1/2 to 3s3p2 2P3/2 and 2P1/2, which also decay to 3p 2P3/2.
std::vector<Transition> si_ii(double branching_1194, double branching_1197) {
  return {{1190.4158, 0.292, 4.0862e9, 28.085, 0.5, -9, 1, {{1194.5002, branching_1194, -0.4}}},
          {1193.2897, 0.582, 4.075e9, 28.085, 0, -9, 1, {{1197.3938, branching_1197, 0}}}};
}
const double branching_1194 = 3.399e9 / 4.0862e9, branching_1197 = 1.349e9 / 4.075e9;

std::vector<Transition> lya_and_d(double mass, double abundance = 1e-2) {
  return {{1215.6701, 0.41641, 6.2649e8, 1.00782503, 1. / 3, 1},
          {1215.3394, 0.41641, 6.2649e8, mass, 1. / 3, 1, abundance}};
}

double unscattered(const std::vector<oracle::Photon>& photons) {
  double sum = 0;
  for (const auto& p : photons) sum += p.scatterings == 0 ? 1 : 0;
  return sum / double(photons.size());
}

TEST(MultipletOracle, ThinGasLetsThroughExpMinusTauOfBothLines) {
  const std::size_t n = 20'000;
  Problem p{.inner_radius = 0.9, .temperature = 1e4, .tau0 = 0.6};
  p.transitions = mg_ii;
  const double v_th = oracle::thermal_speed(mg_ii[0], 1e4), a = 2.60e8 * 2796.3543e-8 / (4 * M_PI) / v_th;
  const double x_h = 2.99792458e10 * std::log(2796.3543 / 2803.5315) / v_th;
  const auto expect = [&](double x, double tau, std::uint64_t seed) {
    p.x_source = x;
    const double truth = std::exp(-tau), error = std::sqrt(truth * (1 - truth) / double(n));
    EXPECT_NEAR(unscattered(oracle::run(p, seed, n)), truth, 4 * error) << x;
    EXPECT_GT(std::abs(unscattered(oracle::run(p, seed, n)) - std::exp(-2 * tau)), 6 * error) << x;
  };
  expect(0, 0.6 * oracle::voigt_H(a, 0), 1);
  expect(x_h, 0.6 * 0.303 / 0.608 * 2803.5315 / 2796.3543 * oracle::voigt_H(a, 0), 2);
  // Deuterium: its centre is higher and its core narrower by sqrt 2.
  p.transitions = lya_and_d(2.01410178), p.tau0 = 30;
  const double ratio = std::sqrt(2.01410178 / 1.00782503),
               x_d = 2.99792458e10 * std::log(1215.6701 / 1215.3394) / oracle::thermal_speed(p.transitions[0], 1e4);
  expect(x_d, 30 * (1e-2 * ratio + 6.6e-6), 3);
  expect(x_d + 1 / ratio, 30 * (1e-2 * ratio * std::exp(-1.) + 6e-6), 4);
}

TEST(MultipletOracle, OneScatteringDecaysByTheBranching) {
  const double n = 20'000;
  Problem p{.temperature = 1e4, .tau0 = 1e6};
  p.transitions = si_ii(branching_1194, branching_1197);
  p.max_scatterings = 1;
  const double v_th = oracle::thermal_speed(p.transitions[0], 1e4), c = 2.99792458e10;
  for (const auto& [absorbed, sent, branching] :
       {std::tuple{1190.4158, 1194.5002, branching_1194}, {1193.2897, 1197.3938, branching_1197}}) {
    p.x_source = c * std::log(1190.4158 / absorbed) / v_th;
    double share = 0, mean = 0, squares = 0;
    for (const auto& photon : oracle::run(p, 5, std::size_t(n))) {
      const double x = photon.x - c * std::log(1190.4158 / sent) / v_th;
      if (std::abs(x) > 50) continue;
      share += 1. / n, mean += x / n, squares += x * x / n;
    }
    EXPECT_NEAR(share, branching, 4 * std::sqrt(branching * (1 - branching) / n));
    // y_out = u (mu - nu_i/nu_f) + u_perp sin theta, with <u^2> = a/(sqrt(pi) H) - a^2 at line centre.
    const double E = absorbed < 1191 ? -0.4 : 0, sine2 = 2. / 3 - E / 15, stretch = sent / absorbed;
    const double a = 4.08e9 * absorbed * 1e-8 / (4 * M_PI) / v_th;
    const double u2 = a / (std::sqrt(M_PI) * oracle::voigt_H(a, 0)) - a * a;
    EXPECT_NEAR(mean / share, 0, 4 * std::sqrt(0.4 / n / share));
    EXPECT_NEAR(squares / share, sine2 / 2 + u2 * (1 - sine2 + stretch * stretch), 4 * 0.4 * std::sqrt(3 / n / share));
  }
}

TEST(MultipletOracle, ShareCosinesHaveTheirMoment) {
  oracle::detail::Rng rng(5);
  for (const double E : {-0.5, -0.4, 0., 0.1, 0.5, 1.}) {
    double second = 0;
    for (int i = 0; i < 200'000; ++i) second += std::pow(oracle::detail::share_cosine(E, rng), 2) / 200'000;
    EXPECT_NEAR(second, 1. / 3 + E / 15, 0.003) << E;
  }
}

// ---- thor against the oracle ----------------------------------------------------------------------------------------

/// Quantities to compare, of scattered photons only: the others are unchanged.
struct Sample {
  double all = 0;
  std::vector<double> x, scatterings;
  double share() const { return double(x.size()) / all; }
};
Sample of_oracle(const Problem& problem, std::uint64_t seed, std::size_t n) {
  Sample s;
  s.all = double(n);
  for (const auto& p : oracle::run(problem, seed, n)) {
    if (p.scatterings > 0) s.x.push_back(p.x), s.scatterings.push_back(p.scatterings);
  }
  return s;
}
Sample of_thor(const std::string& yaml, const std::string& more) {
  Sample s;
  for (const auto& p : run(yaml + more)) {
    s.all += 1;
    EXPECT_EQ(p.fate, thor::Phase::escaped);
    if (p.scatterings > 0) s.x.push_back(p.frequency_final), s.scatterings.push_back(double(p.scatterings));
  }
  return s;
}
/// The smallest p-value of three comparisons.
double agreement(const Sample& a, const Sample& b) {
  const auto p = [](const std::vector<double>& v, const std::vector<double>& w) {
    return ks_p(ks_distance(v, w), double(v.size()), double(w.size()));
  };
  const double s = (a.share() * a.all + b.share() * b.all) / (a.all + b.all);
  const double z = (a.share() - b.share()) / std::sqrt(s * (1 - s) * (1 / a.all + 1 / b.all));
  return std::min({p(a.x, b.x), p(a.scatterings, b.scatterings), 2 * normal_tail(std::abs(z))});
}

/// Both precisions agree with the oracle, and with none of the wrong oracles.
void compare(const std::string& yaml, const Problem& problem, const std::vector<std::pair<Problem, const char*>>& wrong,
             std::size_t n) {
  const Sample truth = of_oracle(problem, 1, n);
  std::optional<Sample> single;
  for (const char* precision : {"precision: single\n", "precision: double\nseed: 2\n"}) {
    const Sample ours = of_thor(yaml, precision);
    EXPECT_GT(agreement(ours, truth), 1e-3 / 2) << precision;
    if (!single) single = ours;
  }
  for (const auto& [twin, what] : wrong) EXPECT_LT(agreement(*single, of_oracle(twin, 2, n)), 1e-6) << what;
}

// Light of k meets h where the gas moves at 768 km/s relative to where it was scattered.
TEST(MultipletOracle, MgIIOutflow) {
  Problem p{.temperature = 1e4, .tau0 = 307, .velocity_max = 600e5};
  p.transitions = mg_ii, p.step_fraction = 0.05;
  p.continuum[0] = -700e5, p.continuum[1] = 900e5;
  Problem swapped = p;
  std::swap(swapped.transitions[0].oscillator_strength, swapped.transitions[1].oscillator_strength);
  swapped.tau0 *= 0.303 / 0.608;
  compare(
      "line: MgII\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 307, velocity: {profile: "
      "linear, max: 600 km/s}}\ngenerators: [{type: point, photons: 20000, spectrum: {type: continuum, range: [-700 "
      "km/s, 900 km/s]}}]\noutput: {path: x.h5}\n",
      p, {{swapped, "the ratio of the doublet the other way round"}}, 4000);
}

TEST(MultipletOracle, SiIIShellWithFluorescence) {
  Problem p{.inner_radius = 0.5, .temperature = 1e4, .tau0 = 30, .velocity_max = 100e5};
  p.transitions = si_ii(branching_1194, branching_1197), p.step_fraction = 0.05;
  p.continuum[0] = -120e5, p.continuum[1] = 740e5;
  Problem branching = p, other = p;
  branching.transitions = si_ii(0.7 * branching_1194, branching_1197);
  other.transitions = si_ii(branching_1197, branching_1194);
  compare(
      "line: SiII_1190\ndataset: {type: shell, inner_radius: 0.5 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: "
      "30, velocity: {profile: linear, max: 100 km/s}}\ngenerators: [{type: point, photons: 40000, spectrum: {type: "
      "continuum, range: [-120 km/s, 740 km/s]}}]\noutput: {path: x.h5}\n",
      p, {{branching, "branching wrong by 30 %"}, {other, "branchings of the two lines exchanged"}}, 16000);
}

TEST(MultipletOracle, LyaWithDeuterium) {
  Problem p{.temperature = 1e4, .tau0 = 300};
  p.transitions = lya_and_d(2.01410178);
  p.continuum[0] = -110e5, p.continuum[1] = -20e5;
  Problem light = p, half = p;
  light.transitions = lya_and_d(1.00782503);
  half.transitions = lya_and_d(2.01410178, 0.5e-2);
  compare(
      "line: Lya\nphysics: {deuterium: 1e-2}\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: "
      "300}\ngenerators: [{type: point, photons: 20000, spectrum: {type: continuum, range: [-110 km/s, -20 "
      "km/s]}}]\noutput: {path: x.h5}\n",
      p, {{light, "deuterium as light as hydrogen"}, {half, "half the deuterium"}}, 5000);
}

}  // namespace
