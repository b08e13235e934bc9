// Flows of any steepness: the default step limiter against a very short one and against the oracle. Dust makes the
// escape fraction depend on where photons scatter.
#include <gtest/gtest.h>

#include "oracle/oracle.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

struct Flow {
  const char* geometry;
  double inner, alpha, beta, v_max, tau0;
  friend void PrintTo(const Flow& f, std::ostream* out) {
    *out << f.geometry << ", velocity " << f.v_max << " km/s r^" << f.beta << ", density r^" << f.alpha;
  }
};

std::string yaml_of(const Flow& f, double limiter, int photons) {
  const bool shell = std::string(f.geometry) == "shell";
  const std::string size =
      shell ? fmt::format("inner_radius: {} kpc, outer_radius: 1 kpc", f.inner) : std::string("half_thickness: 1 kpc");
  const std::string density =
      f.alpha == 0 ? "" : fmt::format("density: {{profile: power_law, exponent: {}}}, ", f.alpha);
  return fmt::format(
      "line: Lya\ndataset: {{type: {}, {}, temperature: 1e4 K, tau0: {}, {}velocity: {{profile: power_law, exponent: "
      "{}, max: {} km/s}}, dust: {{tau: 1, albedo: 0}}, step_limiter: {}}}\ngenerators: [{{type: point, photons: "
      "{}}}]\n"
      "output: {{path: x.h5}}\n",
      f.geometry, size, f.tau0, density, f.beta, f.v_max, limiter, photons);
}

struct Seen {
  double escaped, escaped_error, scatterings, scatterings_error;
  explicit Seen(const std::vector<thor::Photon>& photons)
      : Seen(test::escape_fraction(photons),
             test::moments(test::collect(photons, [](const auto& p) { return double(p.scatterings); })),
             double(photons.size())) {}
  Seen(double share, const test::Moments& count, double n)
      : escaped(share),
        escaped_error(std::sqrt(share * (1 - share) / n)),
        scatterings(count.mean),
        scatterings_error(count.error) {}
  double apart(const Seen& other) const {
    return std::max(std::abs(escaped - other.escaped) / std::hypot(escaped_error, other.escaped_error),
                    std::abs(scatterings - other.scatterings) / std::hypot(scatterings_error, other.scatterings_error));
  }
};

class SteepFlow : public testing::TestWithParam<Flow> {};
TEST_P(SteepFlow, DoesNotDependOnTheStepLimiter) {
  const Flow& f = GetParam();
  const Seen ours(test::run(yaml_of(f, 0.05, 6000)));
  const Seen fine(test::run(yaml_of(f, 0.002, 3000)));
  Flow other = f;  // another slope for the same speed at the fast end
  other.beta = f.beta > 1 ? 0.5 : f.beta < 0 ? -0.5 : 3;
  const Seen wrong(test::run(yaml_of(other, 0.05, 6000)));
  oracle::Problem p;
  p.geometry = std::string(f.geometry) == "shell" ? oracle::Problem::Geometry::sphere : oracle::Problem::Geometry::slab;
  p.inner_radius = f.inner, p.temperature = 1e4, p.tau0 = f.tau0, p.density_exponent = f.alpha;
  p.velocity_exponent = f.beta, p.velocity_max = f.v_max * 1e5 * (f.beta < 0 ? std::pow(f.inner, -f.beta) : 1);
  p.dust_tau = 1, p.albedo = 0;
  std::vector<double> counts;
  double escaped = 0;
  constexpr int n = 600;
  for (const auto& photon : oracle::run(p, 1, n)) counts.push_back(photon.scatterings), escaped += photon.escaped;
  const Seen truth(escaped / n, test::moments(counts), n);
  EXPECT_LT(ours.apart(fine), 4) << ours.escaped << " for " << fine.escaped;
  EXPECT_LT(ours.apart(truth), 4) << ours.escaped << " for " << truth.escaped;
  EXPECT_GT(wrong.apart(fine), 6) << "another exponent must not pass";
}
// Exponents for which the velocity vanishes in the centre faster than r, and for which it diverges towards it.
INSTANTIATE_TEST_SUITE_P(Flows, SteepFlow,
                         testing::Values(Flow{"shell", 0.2, 0, -2, 100, 1000}, Flow{"shell", 0.3, -1, -1, 40, 1000},
                                         Flow{"shell", 0.05, 0, 0, 20, 1000}, Flow{"shell", 0, 0, 0.5, 40, 1000},
                                         Flow{"shell", 0, 0, 1, 60, 1000}, Flow{"shell", 0, 0, 2, 100, 1000},
                                         Flow{"shell", 0, 0, 3, 100, 1000}, Flow{"shell", 0, 0, 4, 200, 1000},
                                         Flow{"shell", 0.05, -1, 6, 200, 1000}, Flow{"shell", 0, 0, 3, -100, 1000},
                                         Flow{"shell", 0.2, -2, 4, -150, 1000}, Flow{"slab", 0, 0, 0.5, 40, 1000},
                                         Flow{"slab", 0, 0, 3, 100, 1000}, Flow{"slab", 0, 0, 2, -100, 1000}));

}  // namespace
