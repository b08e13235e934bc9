// The oracle against analytic results, so that thor can be tested against the oracle.
#include "oracle.hpp"

#include <cerf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace {

using oracle::Photon;
using oracle::Problem;

struct Estimate {
  double mean, error;
};

Estimate estimate(const std::vector<Photon>& photons, const std::function<double(const Photon&)>& value) {
  double sum = 0, squares = 0;
  const double n = static_cast<double>(photons.size());
  for (const Photon& p : photons) {
    const double v = value(p);
    sum += v, squares += v * v;
  }
  const double mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / n)};
}

Estimate escape_fraction(const std::vector<Photon>& photons) {
  return estimate(photons, [](const Photon& p) { return p.escaped ? 1.0 : 0.0; });
}

/// Fraction that reached the surface from the centre without a collision.
Estimate unscattered_fraction(const std::vector<Photon>& photons) {
  return estimate(photons, [](const Photon& p) {
    return p.escaped && p.last[0] == 0 && p.last[1] == 0 && p.last[2] == 0 ? 1.0 : 0.0;
  });
}

/// A probability density on a grid of points fine enough for the trapezium rule.
struct Tabulated {
  std::vector<double> u, density;
};

/// Chi-square of samples in 40 equally probable bins, as (chi^2 - dof) / sqrt(2 dof): about N(0, 1)
/// for samples of that density.
double chi_square_deviate(const Tabulated& pdf, const std::vector<double>& samples) {
  constexpr int bins = 40;
  const std::size_t n = pdf.u.size();
  std::vector<double> cdf(n, 0.0), edges;
  for (std::size_t i = 1; i < n; ++i)
    cdf[i] = cdf[i - 1] + 0.5 * (pdf.density[i] + pdf.density[i - 1]) * (pdf.u[i] - pdf.u[i - 1]);
  for (int b = 1; b < bins; ++b) {
    const double target = cdf.back() * b / bins;
    const auto i = static_cast<std::size_t>(std::lower_bound(cdf.begin(), cdf.end(), target) - cdf.begin());
    edges.push_back(pdf.u[i - 1] + (pdf.u[i] - pdf.u[i - 1]) * (target - cdf[i - 1]) / (cdf[i] - cdf[i - 1]));
  }
  std::vector<double> counts(bins, 0.0);
  for (double s : samples)
    ++counts[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), s) - edges.begin())];
  const double expected = static_cast<double>(samples.size()) / bins;
  double chi2 = 0;
  for (double c : counts) chi2 += (c - expected) * (c - expected) / expected;
  return (chi2 - (bins - 1)) / std::sqrt(2.0 * (bins - 1));
}

/// exp(-u^2) / ((x-u)^2 + a^2) at u = x + a sinh(s), equidistant in s: resolves core and resonance.
Tabulated parallel_velocity_pdf(double a, double x) {
  Tabulated pdf;
  const double s0 = std::asinh((-8 - x) / a), s1 = std::asinh((8 - x) / a);
  constexpr int n = 100000;
  for (int i = 0; i <= n; ++i) {
    const double u = x + a * std::sinh(s0 + (s1 - s0) * i / n);
    pdf.u.push_back(u);
    pdf.density.push_back(std::exp(-u * u) / ((x - u) * (x - u) + a * a));
  }
  return pdf;
}

/// Outgoing x for isotropic scattering, averaged over angles: R_II-A of Hummer (1962), MNRAS
/// 125, 21.
Tabulated redistribution_pdf(double a, double x_in) {
  Tabulated pdf;
  for (double x = x_in - 10; x < x_in + 10; x += 0.02) {
    const double high = std::max(x, x_in), low = std::min(x, x_in), h = 0.004;
    double sum = 0;
    for (double u = (high - low) / 2 + h / 2; u < 7; u += h)
      sum += std::exp(-u * u) * (std::atan((low + u) / a) - std::atan((high - u) / a));
    pdf.u.push_back(x);
    pdf.density.push_back(sum);
  }
  return pdf;
}

TEST(Oracle, VoigtAgreesWithLibcerf) {
  for (double a : {1e-6, 1e-5, 1.5e-4, 4.7e-4, 1e-2, 0.1})
    for (double x = 0; x < 300; x += x < 8 ? 0.00737 : 0.0531) {
      const double truth = re_w_of_z(x, a);
      ASSERT_NEAR(oracle::voigt_H(a, x) / truth, 1, 1e-9) << "a = " << a << ", x = " << x;
      ASSERT_EQ(oracle::voigt_H(a, -x), oracle::voigt_H(a, x));
    }
}

TEST(Oracle, LineConstants) {
  EXPECT_NEAR(oracle::thermal_speed(1e4), 12.85e5, 0.01e5);
  EXPECT_NEAR(oracle::damping_parameter(1e4), 4.72e-4, 0.01e-4);
  EXPECT_NEAR(oracle::recoil_parameter(1e4), 2.54e-4, 0.01e-4);
}

TEST(Oracle, ParallelVelocityFollowsItsPdf) {
  struct Case {
    double a, x, wrong_x;
  };
  for (auto [a, x, wrong_x] : {Case{4.7e-4, 0, 0.05},
                               {4.7e-4, 1, 1.05},
                               {4.7e-4, -3.2, -3.3},
                               {1e-6, 3.5, 3.4},
                               {1e-6, 5, 4.7},
                               {0.1, 2, 2.1},
                               {1e-2, -4, -4.2},
                               {4.7e-4, 20, 15},
                               {1e-6, 200, 40}}) {
    const oracle::detail::ParallelVelocity sampler(a);
    oracle::detail::Rng rng(7);
    std::vector<double> samples(200000);
    for (double& s : samples) s = sampler(x, rng);
    EXPECT_LT(std::abs(chi_square_deviate(parallel_velocity_pdf(a, x), samples)), 4) << "a = " << a << ", x = " << x;
    EXPECT_GT(chi_square_deviate(parallel_velocity_pdf(a, wrong_x), samples), 10) << "a = " << a << ", x = " << x;
  }
}

TEST(Oracle, OneScatteringRedistributesLikeHummer) {
  for (double x : {0.0, 1.0, 3.0, 5.0}) {
    Problem p{.temperature = 100, .tau0 = 1e9, .phase = Problem::Phase::isotropic};
    p.x_source = x;
    p.max_scatterings = 1;
    std::vector<double> samples;
    for (const Photon& photon : oracle::run(p, 11, 25000)) {
      ASSERT_EQ(photon.scatterings, 1);
      samples.push_back(photon.x);
    }
    const double a = oracle::damping_parameter(p.temperature);
    EXPECT_LT(std::abs(chi_square_deviate(redistribution_pdf(a, x), samples)), 4) << x;
    EXPECT_GT(chi_square_deviate(redistribution_pdf(a, x + 0.3), samples), 10) << x;
    EXPECT_GT(chi_square_deviate(redistribution_pdf(a, x - 0.3), samples), 10) << x;
  }
}

TEST(Oracle, PhaseFunctionsHaveTheirMoments) {
  oracle::detail::Rng rng(5);
  constexpr int n = 200000;
  double dipole = 0, forward = 0, second = 0;
  for (int i = 0; i < n; ++i) {
    dipole += std::pow(oracle::detail::dipole_cosine(rng), 2) / n;
    const double mu = oracle::detail::henyey_greenstein_cosine(0.73, rng);
    forward += mu / n;
    second += (3 * mu * mu - 1) / 2 / n;
  }
  EXPECT_NEAR(dipole, 0.4, 0.003);  // <mu^2>
  EXPECT_NEAR(forward, 0.73, 0.004);
  EXPECT_NEAR(second, 0.73 * 0.73, 0.005);  // Legendre moments are g^l
}

TEST(Oracle, ThinShellIsLeftUnscatteredByExpMinusTau) {
  const double a = oracle::damping_parameter(1e4), v_th = oracle::thermal_speed(1e4);
  Problem p{.inner_radius = 0.9, .temperature = 1e4, .tau0 = 0.25};
  p.dust_tau = 0.1;
  auto f = unscattered_fraction(oracle::run(p, 1, 20000));
  EXPECT_NEAR(f.mean, std::exp(-0.25 * oracle::voigt_H(a, 0) - 0.1), 4 * f.error);

  p.dust_tau = 0;
  p.velocity_exponent = 0;
  p.velocity_max = 0.7 * v_th;
  p.x_source = 1.5;
  f = unscattered_fraction(oracle::run(p, 2, 20000));
  EXPECT_NEAR(f.mean, std::exp(-0.25 * oracle::voigt_H(a, 0.8)), 4 * f.error);
}

// tau = tau0 int n(r) H(a, x - v(r)/v_th) dr, with n ~ r^-2 and v ~ r^2 to 3 v_th.
TEST(Oracle, SubStepsIntegrateTheOpacity) {
  Problem p{.inner_radius = 0.2, .temperature = 1e4, .tau0 = 3};
  p.density_exponent = -2;
  p.velocity_exponent = 2;
  p.velocity_max = 3 * oracle::thermal_speed(1e4);
  p.x_source = 0.8;
  p.max_scatterings = 1;
  const double a = oracle::damping_parameter(1e4), h = 1e-4;
  double tau = 0;
  for (double r = 0.2 + h / 2; r < 1; r += h)
    tau += h * p.tau0 * 0.25 / (r * r) * oracle::voigt_H(a, p.x_source - 3 * r * r);
  const auto [f, error] = unscattered_fraction(oracle::run(p, 3, 20000));
  EXPECT_NEAR(f, std::exp(-tau), 4 * error);
}

// Sub-steps in gas that hardly moves must give the histories of the exact solution; only
// the first scatterings are compared, since rounding errors grow from one to the next.
TEST(Oracle, SubStepsAgreeWithTheExactPath) {
  Problem p{.inner_radius = 0.3, .temperature = 1e4, .tau0 = 3};
  p.x_source = 0.47;
  p.max_scatterings = 4;
  const auto exact = oracle::run(p, 4, 300);
  p.velocity_max = 1e-6;
  const auto stepped = oracle::run(p, 4, 300);
  int equal = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    equal +=
        std::abs(exact[i].x - stepped[i].x) < 1e-6 && std::abs(exact[i].path - stepped[i].path) < 1e-6 * exact[i].path;
  EXPECT_GE(equal, 297);
}

TEST(Oracle, PhotonsDependOnSeedAndIndexAlone) {
  const Problem p{.temperature = 1e4, .tau0 = 10};
  const auto few = oracle::run(p, 9, 5), many = oracle::run(p, 9, 20), other = oracle::run(p, 10, 5);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].x, many[i].x);
    EXPECT_NE(few[i].x, other[i].x);
  }
}

TEST(Oracle, StaticSphereHasTheMeanFrequencyOfOtherCodes) {
  struct Case {
    Problem::Skip skip;
    std::size_t photons;
  };
  for (auto [skip, n] :
       {Case{Problem::Skip::local, 20}, Case{Problem::Skip::global, 20}, Case{Problem::Skip::fixed, 1000}}) {
    Problem p{.temperature = 1e4, .tau0 = 1e5, .skip = skip, .x_crit_fixed = 2};
    const auto photons = oracle::run(p, 12, n);
    const auto size = estimate(photons, [](const Photon& q) { return std::abs(q.x); });
    const auto x = estimate(photons, [](const Photon& q) { return q.x; });
    EXPECT_EQ(escape_fraction(photons).mean, 1);
    EXPECT_NEAR(size.mean, 4.33, 4 * std::hypot(size.error, 0.03)) << n << " photons";
    EXPECT_NEAR(x.mean, 0, 4 * x.error) << n << " photons";
  }
}

// With albedo 0 an absorbing run and a dust-free run weighted by exp(-tau_dust) of the column flown
// have the same expectation; with albedo 1 nothing is lost.
TEST(Oracle, DustySlabClosesItsEnergy) {
  Problem p{.geometry = Problem::Geometry::slab, .temperature = 20, .tau0 = 1e4};
  p.skip = Problem::Skip::fixed;
  p.x_crit_fixed = 2;
  const double dust = 0.3;
  const auto weighted = estimate(oracle::run(p, 21, 1000), [&](const Photon& q) { return std::exp(-dust * q.column); });
  p.dust_tau = dust;
  p.albedo = 0;
  const auto absorbed = escape_fraction(oracle::run(p, 22, 1000));
  EXPECT_NEAR(absorbed.mean, weighted.mean, 4 * std::hypot(absorbed.error, weighted.error));
  EXPECT_LT(absorbed.mean, 0.9);
  p.albedo = 1;
  EXPECT_EQ(escape_fraction(oracle::run(p, 23, 200)).mean, 1);
}

}  // namespace
