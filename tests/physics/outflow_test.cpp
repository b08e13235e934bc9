// The expanding sphere, N_HI = 2e20 cm^-2, T = 2e4 K, v = v_max r/R, and shells with power laws.
#include <gtest/gtest.h>

#include "oracle/oracle.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace outflow_test {

using namespace test;

std::string outflow(double v_max, int photons, const std::string& skip, const std::string& more = "") {
  return fmt::format(
      "line: Lya\ndataset: {{type: shell, outer_radius: 1 kpc, temperature: 2e4 K, column_density: 2e20 cm^-2, "
      "velocity: "
      "{{profile: linear, max: {} km/s}}}}\ngenerators: [{{type: point, photons: {}}}]\n"
      "acceleration: {{core_skip: {}}}\noutput: {{path: x.h5}}\n{}",
      v_max, photons, skip, more);
}
/// Doppler velocities [km/s], positive to the red.
std::vector<double> velocities(const std::vector<thor::Photon>& photons) {
  std::vector<double> v;
  for (const double x : frequencies(photons)) v.push_back(-x * 18.1657);
  return v;
}

struct Reference {
  const char *file, *axis, *flux;
  double v_max, ks;
  friend void PrintTo(const Reference& c, std::ostream* out) { *out << c.file; }
};
class AgainstOtherCodes : public testing::TestWithParam<Reference> {};
TEST_P(AgainstOtherCodes, Spectrum) {
  const std::string path = reference(GetParam().file);
  THOR_NEED_REFERENCE(path);
  const Curve curve = read_curve(path, GetParam().axis, GetParam().flux);
  const auto distance = [&](double v_max) {
    // They scatter as dipoles at all frequencies.
    const auto v = velocities(run(outflow(v_max, 10000, "global", "physics: {phase_function: dipole}\n")));
    return ks_distance(v, [&](double t) { return curve.cdf(t); });
  };
  EXPECT_LT(distance(GetParam().v_max), GetParam().ks);
  EXPECT_GT(distance(1.2 * GetParam().v_max), GetParam().ks) << "a velocity wrong by 20 % must not pass";
}
INSTANTIATE_TEST_SUITE_P(Outflow, AgainstOtherCodes,
                         testing::Values(Reference{"lart_hubble_N2e20_T2e4_vmax20.csv", "v_kms", "flux", 20, 0.02},
                                         Reference{"lart_hubble_N2e20_T2e4_vmax200.csv", "v_kms", "flux", 200, 0.02},
                                         Reference{"skirt_expand_v200_N2e20_T2e4.csv", "v_kms", "F_v_per_kms", 200,
                                                   0.025}));

class SkippedRuns : public testing::TestWithParam<double> {};
TEST_P(SkippedRuns, AgreeWithUnskipped) {
  const double v_max = GetParam();
  const std::vector<std::string> thinner{"dataset.column_density=5e19 cm^-2"};  // every scattering takes its time
  const auto none = velocities(run(outflow(v_max, 120, "none"), thinner));
  const auto skipped = velocities(run(outflow(v_max, 4000, "global", "seed: 2\n"), thinner));
  EXPECT_GT(ks_p(ks_distance(none, skipped), 120, 4000), 1e-3);
  const auto wrong = velocities(run(outflow(3 * v_max, 4000, "global", "seed: 2\n"), thinner));
  EXPECT_LT(ks_p(ks_distance(none, wrong), 120, 4000), 1e-4) << "the velocity wrong by a factor of 3";
}
INSTANTIATE_TEST_SUITE_P(Outflow, SkippedRuns, testing::Values(200., 2000.));

/// An inflow is the mirror image of an outflow in frequency.
TEST(Outflow, InflowIsItsMirrorImage) {
  const auto out = velocities(run(outflow(50, 6000, "global")));
  auto in = velocities(run(outflow(-50, 6000, "global", "seed: 2\n")));
  EXPECT_LT(ks_p(ks_distance(out, in), 6000, 6000), 1e-6) << "before it is mirrored";
  for (double& v : in) v = -v;
  EXPECT_GT(ks_p(ks_distance(out, in), 6000, 6000), 1e-3);
}

struct PowerLaw {
  double inner, alpha, beta, v_max, tau0, dust;
  friend void PrintTo(const PowerLaw& c, std::ostream* out) {
    *out << "density " << c.alpha << ", velocity " << c.beta;
  }
};
class PowerLawShell : public testing::TestWithParam<PowerLaw> {};
TEST_P(PowerLawShell, MatchesTheOracle) {
  const PowerLaw& c = GetParam();
  const int n = 6000;
  const auto yaml = [&](double v_max) {
    return fmt::format(
        "line: Lya\nprecision: double\ndataset: {{type: shell, inner_radius: {} kpc, outer_radius: 1 kpc, temperature: "
        "1e4 K, "
        "tau0: {}, density: {{profile: power_law, exponent: {}}}, velocity: {{profile: power_law, exponent: {}, max: "
        "{} "
        "km/s}}, dust: {{tau: {}}}, step_limiter: 0.1}}\ngenerators: [{{type: point, photons: {}, spectrum: {{type: "
        "delta, "
        "offset: -60 km/s}}}}]\noutput: {{path: x.h5}}\n",
        c.inner, c.tau0, c.alpha, c.beta, v_max, c.dust, n);
  };
  oracle::Problem p;
  p.inner_radius = c.inner, p.temperature = 1e4, p.tau0 = c.tau0, p.density_exponent = c.alpha;
  p.velocity_exponent = c.beta, p.velocity_max = c.v_max * 1e5 * (c.beta < 0 ? std::pow(c.inner, -c.beta) : 1);
  p.dust_tau = c.dust, p.x_source = 60e5 / oracle::thermal_speed(1e4);
  // Frequency and column of those that scattered: the others all have the same.
  struct Sample {
    double escaped = 0;
    std::vector<double> x, scatterings, columns;
    void add(double frequency, double count, double column) {
      ++escaped;
      scatterings.push_back(count);
      if (count > 0) x.push_back(frequency), columns.push_back(column);
    }
  } theirs, ours, wrong;
  for (const auto& photon : oracle::run(p, 1, n)) {
    if (photon.escaped) theirs.add(photon.x, photon.scatterings, photon.column);
  }
  const auto fill = [&](Sample& sample, double v_max) {
    for (const auto& photon : run(yaml(v_max))) {
      if (photon.fate == thor::Phase::escaped) {
        sample.add(photon.frequency_final, double(photon.scatterings), photon.column / c.tau0);
      }
    }
  };
  fill(ours, c.v_max), fill(wrong, 1.4 * c.v_max);
  const auto p_value = [](const std::vector<double>& a, const std::vector<double>& b) {
    return ks_p(ks_distance(a, b), double(a.size()), double(b.size()));
  };
  EXPECT_NEAR(ours.escaped / n, theirs.escaped / n, 4 * std::sqrt(0.5 / n));
  EXPECT_GT(p_value(ours.x, theirs.x), 1e-3) << "frequency";
  EXPECT_GT(p_value(ours.scatterings, theirs.scatterings), 1e-3) << "scatterings";
  EXPECT_GT(p_value(ours.columns, theirs.columns), 1e-3) << "column";
  EXPECT_LT(std::min(p_value(wrong.scatterings, theirs.scatterings), p_value(wrong.x, theirs.x)), 1e-6)
      << "a velocity wrong by 40 % must not pass";
}
INSTANTIATE_TEST_SUITE_P(Shells, PowerLawShell,
                         testing::Values(PowerLaw{0.5, -1, 1, 100, 300, 0}, PowerLaw{0.1, -2, 0.5, 150, 1000, 0.3},
                                         PowerLaw{0.2, 0.5, 0, 80, 300, 0}, PowerLaw{0.3, -0.5, -1, 120, 300, 0.5},
                                         PowerLaw{0, 0, 2, 100, 300, 0.2}));

// A thin shell lets through exactly e^{-tau} of the photons of consecutive ids.
TEST(ThinShell, UnscatteredShareIsExponential) {
  const int n = 200000;
  const auto unscattered = [&](double tau0, const char* precision) {
    const auto photons =
        run(fmt::format("line: Lya\nprecision: {}\ndataset: {{type: shell, inner_radius: 0.9 kpc, outer_radius: 1 "
                        "kpc, temperature: 1e4 K, tau0: {}}}\ngenerators: [{{type: point, photons: {}}}]\n"
                        "output: {{path: x.h5}}\n",
                        precision, tau0, n));
    return double(std::ranges::count(photons, 0, &thor::Photon::scatterings)) / n;
  };
  const double H = oracle::voigt_H(oracle::damping_parameter(1e4), 0);
  for (const char* precision : {"single", "double"}) {
    for (const double tau0 : {0.25, 2.}) {
      const double expected = std::exp(-tau0 * H), sigma = std::sqrt(expected * (1 - expected) / n);
      EXPECT_NEAR(unscattered(tau0, precision), expected, 4 * sigma);
      EXPECT_GT(std::abs(unscattered(1.05 * tau0, precision) - expected), 4 * sigma) << "tau0 wrong by 5 %";
    }
  }
}

}  // namespace outflow_test
