// A slow, plain, double-precision Monte Carlo transport of Lyman-alpha or of a multiplet, history by history, as in a
// textbook. Tests compare thor with it, so it shares nothing with src/thor: no constant, no profile, no sampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace oracle {

/// A decay to a level other than the one that absorbed.
struct Channel {
  double wavelength;   ///< Angstrom
  double probability;  ///< among all decays of the upper level
  double E = 0;        ///< share of dipole scattering, p(mu) = 1/2 (1 + E/2 P_2)
};

/// An absorbing transition of a multiplet.
struct Transition {
  double wavelength;           ///< in vacuum, Angstrom
  double oscillator_strength;  ///< of absorption
  double damping;              ///< sum of all Einstein A of the upper level, 1/s
  double mass;                 ///< of the atom, u
  double E = 0;                ///< as above, for the decay back
  double E_wing = -9;          ///< beyond 0.2 thermal widths in the atom's frame; -9: as E
  double abundance = 1;        ///< by number, of the first transition's
  std::vector<Channel> fluorescence = {};
};

/// A sphere (or shell) of outer radius 1, or an infinite slab |z| < 1, with a central point source.
/// Lengths are in units of the outer radius or half thickness R.
struct Problem {
  enum class Geometry { sphere, slab } geometry = Geometry::sphere;
  double inner_radius = 0;      ///< of the empty cavity (sphere)
  double temperature = 1e4;     ///< K
  double tau0 = 1;              ///< N sigma0 from the inner edge (slab: mid-plane) to the outer
  double density_exponent = 0;  ///< rho ~ r^exponent (sphere)
  double velocity_exponent = 1;
  double velocity_max = 0;  ///< cm/s; v = velocity_max (r/R)^exponent, radial; slab: along z

  double dust_tau = 0;  ///< extinction along the path of tau0; dust follows the gas
  double albedo = 0.32;
  double g = 0.73;  ///< Henyey-Greenstein asymmetry

  enum class Skip { none, local, global, fixed } skip = Skip::none;
  double x_crit_fixed = 0;
  double x_crit_cap = std::numeric_limits<double>::infinity();

  bool recoil = false;
  enum class Phase { lya, isotropic, dipole } phase = Phase::lya;
  double x_source = 0;           ///< lab frame, units of v_th
  double continuum[2] = {0, 0};  ///< if not both 0: a source flat in wavelength between these Doppler
                                 ///< velocities c (lambda/lambda_0 - 1), cm/s
  /// Transitions of a multiplet; empty: Lyman-alpha. x is c ln(nu/nu_0) in units of v_th; nu_0, v_th, and the sigma_0
  /// in tau0 are those of the first.
  std::vector<Transition> transitions = {};
  double step_fraction = 0.02;  ///< of the scale on which the opacity changes along a ray
  double max_scatterings = 1e12;
};

struct Photon {
  bool escaped;         ///< false: absorbed by dust, or stopped at max_scatterings
  double x;             ///< lab frame, units of v_th, positive blue
  double scatterings;   ///< by the line only
  double path;          ///< in units of R
  double column;        ///< sum of n ds, in units of the column that tau0 refers to
  double direction[3];  ///< unit vector
  double last[3];       ///< position of the last scattering, or of emission
};

/// Follows photons 0 ... n-1; photon i depends on (seed, i) alone.
std::vector<Photon> run(const Problem& problem, std::uint64_t seed, std::size_t n);

/// Voigt function H(a, x) = a/pi int exp(-t^2) / ((x-t)^2 + a^2) dt, H(0, 0) = 1.
double voigt_H(double a, double x);

double thermal_speed(double temperature);      ///< sqrt(2 k T / m), cm/s
double damping_parameter(double temperature);  ///< A / (4 pi nu0) c / v_th
double recoil_parameter(double temperature);   ///< h nu0 / (m c v_th)
double thermal_speed(const Transition& transition, double temperature);

namespace detail {

using Rng = std::mt19937_64;

/// Uniform in (0, 1), never 0 or 1.
double uniform(Rng& rng);

/// The atom's velocity along the photon, p(u) ~ exp(-u^2) / ((x-u)^2 + a^2).
class ParallelVelocity {
 public:
  explicit ParallelVelocity(double a);
  double operator()(double x, Rng& rng) const;

 private:
  double a_;
  std::vector<double> u0_;  // where the two halves of the envelope meet, tabulated in |x|
};

/// Cosine of the scattering angle for p(mu) = 3/8 (1 + mu^2), for 1/2 (1 + E/2 P_2), and for Henyey &
/// Greenstein (1941).
double dipole_cosine(Rng& rng);
double share_cosine(double E, Rng& rng);
double henyey_greenstein_cosine(double g, Rng& rng);

}  // namespace detail
}  // namespace oracle
