// The dusty slab: T = 20 K, source in the mid-plane at line centre, dust that absorbs and does not scatter.
#include <gtest/gtest.h>

#include "oracle/oracle.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace test;

std::string slab(double tau0, double tau_dust, int photons, const std::string& skip, const std::string& more = "",
                 double albedo = 0) {
  return fmt::format(
      "line: Lya\ndataset: {{type: slab, half_thickness: 1 kpc, temperature: 20 K, tau0: {}, dust: {{tau: {}, albedo: "
      "{}, g: "
      "0.73}}}}\ngenerators: [{{type: point, photons: {}}}]\nacceleration: {{core_skip: {}}}\noutput: {{path: "
      "x.h5}}\n{}",
      tau0, tau_dust, albedo, photons, skip, more);
}
double binomial_error(double f, double n) { return std::sqrt(std::max(f * (1 - f), 1 / n) / n); }

/// Escape fraction with absorbing dust: histories without dust, each weighted by the transmission along its path.
Moments weighted(const std::vector<double>& columns, double tau_dust) {
  std::vector<double> left;
  for (const double column : columns) left.push_back(std::exp(-tau_dust * column));
  return moments(left);
}

/// Every scattering followed, without dust: columns in units of the half-thickness.
const std::vector<double>& columns_of_the_oracle() {
  static const std::vector<double> columns = [] {
    oracle::Problem p;
    p.geometry = oracle::Problem::Geometry::slab;
    p.temperature = 20, p.tau0 = 1e4;
    std::vector<double> all;
    for (const auto& photon : oracle::run(p, 3, 450)) all.push_back(photon.column);
    return all;
  }();
  return columns;
}

// Dust that scatters nine tenths of the photons it meets, with every scattering followed and with most skipped: on the
// hidden path it absorbs one tenth.
TEST(DustySlab, EscapeFractionOfTheOracle) {
  const int n = 500, m = 2400;
  const double tau_dust = 1, albedo = 0.9;
  oracle::Problem p;
  p.geometry = oracle::Problem::Geometry::slab;
  p.temperature = 20, p.tau0 = 1e4, p.dust_tau = tau_dust, p.albedo = albedo;
  double theirs = 0;
  for (const auto& photon : oracle::run(p, 1, n)) theirs += photon.escaped ? 1. / n : 0;
  const auto apart = [&](const std::string& yaml) {
    const auto photons = run(yaml);
    const double f = escape_fraction(photons), error = binomial_error(f, double(photons.size()));
    return std::abs(f - theirs) / std::hypot(binomial_error(theirs, n), error);
  };
  EXPECT_LT(apart(slab(1e4, tau_dust, m / 4, "none", "", albedo)), 4);
  for (const char* precision : {"precision: single\n", "precision: double\n"}) {
    EXPECT_LT(apart(slab(1e4, tau_dust, m, "{fixed: 2}", precision, albedo)), 4) << precision;
  }
  EXPECT_GT(apart(slab(1e4, 1.6 * tau_dust, m, "{fixed: 2}", "", albedo)), 4) << "dust wrong by 60 %";
}

// The target is chosen once, by its share of the opacity, and not again when a proposal for the atom's velocity is
// rejected: of the photons that collide at all, tau_d/(tau_d + tau0 H) meet dust first. A cap of one scattering ends
// the others.
TEST(DustySlab, WhatIsHitIsChosenOnce) {
  const double v_th = oracle::thermal_speed(20) / 1e5, a = oracle::damping_parameter(20);
  for (const double x : {0., 1.5, 2.5, 4.}) {
    const double tau0 = 2 / oracle::voigt_H(a, x);
    const auto yaml = slab(tau0, 2, 40000, "none", "limits: {max_scatterings: 1}\nprecision: double\n");
    const auto photons = run(yaml, {fmt::format("generators.0.spectrum={{type: delta, offset: {} km/s}}", -x * v_th)});
    double dust = 0, line = 0;
    for (const auto& p : photons) {
      dust += p.fate == thor::Phase::absorbed;
      line += p.fate == thor::Phase::lost;
      if (p.fate == thor::Phase::lost) {
        ASSERT_NE(p.frequency_final, p.frequency_initial) << "a rejection is not a scattering";
      }
    }
    const double n = dust + line;
    EXPECT_GT(n, 30000);
    EXPECT_NEAR(dust / n, 0.5, 4 * binomial_error(0.5, n)) << x;
  }
}

// Without line opacity, a fraction E_2(tau_d) of the photons from the mid-plane escapes, the integral of e^{-tau_d/mu}
// over mu.
TEST(DustySlab, ThinGasAbsorbsByItsDepth) {
  const int n = 40000;
  const auto expected = [](double tau) {
    double sum = 0;
    for (int i = 0; i < 20000; ++i) sum += std::exp(-tau * 20000 / (i + 0.5)) / 20000;
    return sum;
  };
  for (const char* precision : {"precision: single\n", "precision: double\n"}) {
    const double f = escape_fraction(run(slab(1e-6, 0.7, n, "none", precision)));
    EXPECT_NEAR(f, expected(0.7), 4 * binomial_error(f, n));
    EXPECT_GT(std::abs(f - expected(0.77)), 4 * binomial_error(f, n)) << "dust wrong by 10 %";
  }
}

TEST(DustySlab, DustKeepsTheFrequency) {
  int deflected = 0;
  for (const auto& p : run(slab(0.1, 3, 2000, "none", "", 0.9))) {
    if (p.scatterings > 0 || p.fate != thor::Phase::escaped) continue;
    EXPECT_EQ(p.frequency_final, p.frequency_initial);
    deflected += p.position[2] != 0;
  }
  EXPECT_GT(deflected, 300) << "dust scatters";
}

// RASCAS finds 0.711 +- 0.014 at tau_d = 0.01, where the analytic form is off.
TEST(DustySlab, EscapeFractionOfRascas) {
  const int n = 1000;
  const double f = escape_fraction(run(slab(1e6, 0.01, n, "{fixed: 2}")));
  EXPECT_NEAR(f, 0.711, 3 * std::hypot(0.014, binomial_error(f, n)));
}

// Skipping hides the path in the core, on which dust absorbs: this is accounted for, and the escape fraction is that of
// the oracle, which follows every scattering. Without absorption on the hidden path {fixed: 2} has 0.48 instead of 0.37
// (tau_d = 0.1) and 0.17 instead of 0.11 (0.3): five times the errors here.
TEST(DustySlab, CoreSkippingHasTheEscapeFractionOfTheOracle) {
  const int n = 1600;
  for (const double tau_dust : {0.1, 0.3}) {
    const Moments theirs = weighted(columns_of_the_oracle(), tau_dust);
    const auto apart = [&](const std::string& yaml) {
      const auto photons = run(yaml);
      const double f = escape_fraction(photons), error = binomial_error(f, double(photons.size()));
      return std::abs(f - theirs.mean) / std::hypot(theirs.error, error);
    };
    EXPECT_LT(apart(slab(1e4, tau_dust, n / 4, "local")), 4);
    EXPECT_LT(apart(slab(1e4, tau_dust, n, "{fixed: 1.5}")), 4);
    EXPECT_LT(apart(slab(1e4, tau_dust, n, "{fixed: 2}")), 4);
    EXPECT_LT(apart(slab(1e4, tau_dust, n, "{fixed: 2}", "precision: double\n")), 4);
    EXPECT_LT(apart(slab(1e4, tau_dust, n / 4, "none", "precision: double\n")), 4);
    EXPECT_GT(apart(slab(1e4, 1.5 * tau_dust, n, "{fixed: 2}")), 4) << "dust wrong by 50 %";
  }
}

// The same in thicker gas, against runs that follow every scattering.
TEST(DustySlab, CoreSkippingIsUnbiased) {
  const int m = 3000;
  const auto columns = collect(run(slab(1e5, 0, 180, "none")), [](const auto& p) { return p.column / 1e5; });
  const Moments none = weighted(columns, 0.1);
  const auto apart = [&](double f) { return std::abs(f - none.mean) / std::hypot(none.error, binomial_error(f, m)); };
  for (const char* skip : {"local", "global", "{fixed: 1.5}", "{fixed: 2}"}) {
    EXPECT_LT(apart(escape_fraction(run(slab(1e5, 0.1, m, skip, "seed: 2\n")))), 4) << skip;
  }
  EXPECT_GT(apart(escape_fraction(run(slab(1e5, 0.14, m, "{fixed: 2}", "seed: 2\n")))), 4) << "dust wrong by 40 %";
}

}  // namespace
