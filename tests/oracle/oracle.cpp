#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

namespace oracle {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();

// CODATA 2018 in cgs; Lyman-alpha (f-weighted doublet) from NIST.
constexpr double light_speed = 2.99792458e10;
constexpr double boltzmann = 1.380649e-16;
constexpr double planck = 6.62607015e-27;
constexpr double hydrogen_mass = 1.6735e-24;
constexpr double einstein_A = 6.265e8;
constexpr double nu0 = light_speed / 1215.67e-8;
constexpr double atomic_mass = 1.66053906660e-24;
constexpr double angstrom = 1e-8;

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Two unit vectors that complete k to an orthonormal frame.
void complete_frame(const Vector& k, Vector& e1, Vector& e2) {
  const double s = std::hypot(k[0], k[1]);
  e1 = s > 1e-8 ? Vector{-k[1] / s, k[0] / s, 0} : Vector{1, 0, 0};
  e2 = {k[1] * e1[2] - k[2] * e1[1], k[2] * e1[0] - k[0] * e1[2], k[0] * e1[1] - k[1] * e1[0]};
}

/// The direction at angle acos(mu) from k, at a random azimuth.
Vector turned(const Vector& k, double mu, detail::Rng& rng) {
  Vector e1, e2, out;
  complete_frame(k, e1, e2);
  const double phi = 2 * pi * detail::uniform(rng);
  const double s = std::sqrt(std::max(0.0, (1 - mu) * (1 + mu)));
  for (int i = 0; i < 3; ++i) out[i] = mu * k[i] + s * (std::cos(phi) * e1[i] + std::sin(phi) * e2[i]);
  const double norm = std::sqrt(dot(out, out));
  for (double& c : out) c /= norm;
  return out;
}

/// Transitions of a problem, with quantities that depend on temperature.
struct Resonance {
  double nu;        ///< Hz
  double speed;     ///< thermal, cm/s
  double x;         ///< position c ln(nu/nu_0)/v_th
  double width;     ///< speed/v_th
  double strength;  ///< opacity at its centre over that of the first
  double a;
  double recoil;  ///< h nu/(m c speed)
  double E, E_wing;
  std::vector<Channel> fluorescence;
  detail::ParallelVelocity parallel;

  double detuning(double x_gas) const { return (x_gas - x) / width; }
};

std::vector<Resonance> resonances(const Problem& p) {
  const auto share = [&](double E) {
    return p.phase == Problem::Phase::isotropic ? 0 : p.phase == Problem::Phase::dipole ? 1 : E;
  };
  std::vector<Resonance> list;
  if (p.transitions.empty()) {
    const double a = damping_parameter(p.temperature);
    list.push_back({nu0,
                    thermal_speed(p.temperature),
                    0,
                    1,
                    1,
                    a,
                    recoil_parameter(p.temperature),
                    share(1.0 / 3),
                    share(1),
                    {},
                    detail::ParallelVelocity(a)});
  }
  for (const Transition& t : p.transitions) {
    const double speed = thermal_speed(t, p.temperature), nu = light_speed / (t.wavelength * angstrom);
    const double a = t.damping / (4 * pi * nu) * light_speed / speed;
    const Transition& first = p.transitions.front();
    const double v_th = thermal_speed(first, p.temperature);
    // sigma_0 ~ f/(Doppler width in frequency)
    const double strength = t.abundance * t.oscillator_strength / first.oscillator_strength *
                            (v_th / first.wavelength) / (speed / t.wavelength);
    list.push_back({nu, speed, light_speed * std::log(first.wavelength / t.wavelength) / v_th, speed / v_th, strength,
                    a, planck * nu / (t.mass * atomic_mass * light_speed * speed), share(t.E),
                    share(t.E_wing == -9 ? t.E : t.E_wing), t.fluorescence, detail::ParallelVelocity(a)});
    for (Channel& channel : list.back().fluorescence) channel.E = share(channel.E);
  }
  return list;
}

/// The gas: everything that depends on the problem and a position in it.
class Medium {
 public:
  Medium(const Problem& p, double v_th) : p_(p), v_max_(p.velocity_max / v_th) {
    const double alpha = p.density_exponent, inner = p.inner_radius;
    if (!(inner >= 0 && inner < 1)) throw std::invalid_argument("inner_radius");
    if (alpha <= -1 && inner == 0) throw std::invalid_argument("infinite column");
    if (slab() && (inner != 0 || alpha != 0)) throw std::invalid_argument("slab is uniform");
    // n is normalised to unit column: int_inner^1 n dr = 1.
    norm_ = alpha == -1 ? -1 / std::log(inner) : (alpha + 1) / (1 - std::pow(inner, alpha + 1));
  }

  bool slab() const { return p_.geometry == Problem::Geometry::slab; }
  bool uniform_and_static() const { return p_.density_exponent == 0 && v_max_ == 0; }
  double radius(const Vector& r) const { return slab() ? std::abs(r[2]) : std::sqrt(dot(r, r)); }

  double density(const Vector& r) const {
    if (p_.density_exponent == 0) return norm_;
    return norm_ * std::pow(std::max(radius(r), 1e-10), p_.density_exponent);
  }

  /// v.k / v_th
  double velocity_along(const Vector& r, const Vector& k) const {
    if (v_max_ == 0) return 0;
    const double d = radius(r);
    const double v = v_max_ * std::pow(d, p_.velocity_exponent);
    if (slab()) return r[2] < 0 ? -v * k[2] : v * k[2];
    return d == 0 ? v : v * dot(r, k) / d;
  }

  /// |d(v.k)/ds| / v_th along the direction k: v' mu^2 + v/r (1 - mu^2) for a radial flow.
  double velocity_gradient(const Vector& r, const Vector& k) const {
    if (v_max_ == 0) return 0;
    const double d = std::max(radius(r), 1e-10), beta = p_.velocity_exponent;
    const double v_over_d = v_max_ * std::pow(d, beta - 1);
    const double mu = slab() ? k[2] : std::min(1.0, std::abs(dot(r, k)) / d);
    return std::abs(v_over_d * (beta * mu * mu + (slab() ? 0 : 1 - mu * mu)));
  }

  /// Distance along k to the next face; `enters` says whether that face is the cavity's.
  double distance_to_face(const Vector& r, const Vector& k, bool in_cavity, bool& enters) const {
    enters = false;
    if (slab()) return k[2] == 0 ? infinity : std::max(0.0, (1 - std::copysign(r[2], r[2] * k[2])) / std::abs(k[2]));
    const double b = dot(r, k), d = radius(r), inner = p_.inner_radius;
    const double to_inner = b * b + (inner - d) * (inner + d);  // discriminants
    const double to_outer = b * b + (1 - d) * (1 + d);
    if (in_cavity) return std::max(0.0, -b + std::sqrt(std::max(0.0, to_inner)));
    enters = inner > 0 && b < 0 && to_inner > 0;
    if (enters) return std::max(0.0, -b - std::sqrt(to_inner));
    return std::max(0.0, -b + std::sqrt(std::max(0.0, to_outer)));
  }

  /// x_crit = 0.2 (a tau)^{1/3}: Smith et al. (2015), MNRAS 449, 4336.
  double x_crit(const Vector& r, const Vector& k, double a, double strength) const {
    double tau = p_.tau0 * strength;
    if (p_.skip == Problem::Skip::none) return 0;
    if (p_.skip == Problem::Skip::fixed) return std::min(p_.x_crit_fixed, p_.x_crit_cap);
    if (p_.skip == Problem::Skip::local) {
      const double d = radius(r);
      double length = std::max(0.0, 1 - d);
      if (p_.inner_radius > 0) length = std::min(length, std::max(0.0, d - p_.inner_radius));
      length = std::min(length, 1 / velocity_gradient(r, k));
      if (p_.density_exponent != 0) length = std::min(length, d / std::abs(p_.density_exponent));
      tau *= density(r) * length;
    }
    return a * tau < 1 ? 0 : std::min(0.2 * std::cbrt(a * tau), p_.x_crit_cap);
  }

  /// A length over which the opacity hardly changes, x from the nearest resonance. Velocity gradients
  /// of non-linear flows change over r / |exponent - 1|; the centre itself is resolved to 0.01.
  double step(const Vector& r, const Vector& k, double x) const {
    const double power = std::max(std::abs(p_.density_exponent), v_max_ == 0 ? 0 : std::abs(p_.velocity_exponent - 1));
    const double doppler = std::max(1.0, std::abs(x)) / velocity_gradient(r, k);
    return p_.step_fraction * std::min(doppler, std::max(radius(r), 0.01) / power);
  }

 private:
  Problem p_;
  double v_max_;
  double norm_;
};

class History {
 public:
  History(const Problem& p, const Medium& medium, const std::vector<Resonance>& lines, std::uint64_t seed,
          std::uint64_t index)
      : p_(p), medium_(medium), lines_(lines) {
    std::seed_seq sequence{seed & 0xffffffffu, seed >> 32, index & 0xffffffffu, index >> 32};
    rng_.seed(sequence);
    k_ = turned({0, 0, 1}, 2 * detail::uniform(rng_) - 1, rng_);
    x_lab_ = p.x_source;
    if (p.continuum[0] != p.continuum[1]) {
      const double v = p.continuum[0] + (p.continuum[1] - p.continuum[0]) * detail::uniform(rng_);
      x_lab_ = -light_speed * std::log(1 + v / light_speed) / lines.front().speed;
    }
    in_cavity_ = p.inner_radius > 0;
  }

  Photon follow() {
    bool escaped = false, alive = true;
    while (alive) {
      escaped = !fly(-std::log(detail::uniform(rng_)));
      if (escaped) break;
      last_ = r_;
      double x = x_lab_ - medium_.velocity_along(r_, k_);
      if (p_.dust_tau > 0 && meets_dust(x)) {
        alive = detail::uniform(rng_) < p_.albedo;
        if (alive) k_ = turned(k_, detail::henyey_greenstein_cosine(p_.g, rng_), rng_);
      } else {
        x = scatter_on_line(x);
        alive = ++scatterings_ < p_.max_scatterings;
      }
      x_lab_ = x + medium_.velocity_along(r_, k_);
    }
    Photon photon{escaped, x_lab_, scatterings_, path_, column_, {}, {}};
    std::ranges::copy(k_, photon.direction);
    std::ranges::copy(last_, photon.last);
    return photon;
  }

 private:
  void advance(double s, double density) {
    for (int i = 0; i < 3; ++i) r_[i] += s * k_[i];
    path_ += s;
    column_ += s * density;
  }

  /// All transitions together.
  double cross_section(double x) const {
    double sum = 0;
    for (const Resonance& line : lines_) sum += line.strength * voigt_H(line.a, line.detuning(x));
    return sum;
  }

  double nearest_detuning(double x) const {
    double nearest = infinity;
    for (const Resonance& line : lines_) nearest = std::min(nearest, std::abs(line.detuning(x)));
    return nearest;
  }

  double opacity(const Vector& r) const {
    const double x = x_lab_ - medium_.velocity_along(r, k_);
    return medium_.density(r) * (p_.tau0 * cross_section(x) + p_.dust_tau);
  }

  /// Spends the optical depth tau along k; true at a collision, false outside.
  bool fly(double tau) {
    while (true) {
      bool enters;
      const double face = medium_.distance_to_face(r_, k_, in_cavity_, enters);
      if (in_cavity_) {
        advance(face, 0);
        in_cavity_ = false;
        continue;
      }
      const bool hit = medium_.uniform_and_static() ? fly_uniform(tau, face) : fly_steps(tau, face);
      if (hit || !enters) return hit;
      in_cavity_ = true;
    }
  }

  bool fly_uniform(double& tau, double face) {
    const double kappa = opacity(r_), s = tau / kappa;
    advance(std::min(s, face), medium_.density(r_));
    tau -= kappa * face;
    return s < face;
  }

  bool fly_steps(double& tau, double face) {
    while (face > 0) {
      // At most the distance to the collision by the local opacity, so that the mid-point rule is centred on the actual
      // flight.
      const double x = x_lab_ - medium_.velocity_along(r_, k_);
      const double h = std::min({face, medium_.step(r_, k_, nearest_detuning(x)), tau / opacity(r_)});
      Vector mid = r_;
      for (int i = 0; i < 3; ++i) mid[i] += 0.5 * h * k_[i];
      const double kappa = opacity(mid);
      if (kappa * h >= tau * (1 - 1e-9)) {
        advance(std::min(h, tau / kappa), medium_.density(mid));
        return true;
      }
      tau -= kappa * h;
      advance(h, medium_.density(mid));
      face = h == face ? 0 : face - h;
    }
    return false;
  }

  bool meets_dust(double x) {
    const double line = p_.tau0 * cross_section(x);
    return detail::uniform(rng_) * (line + p_.dust_tau) < p_.dust_tau;
  }

  /// Absorbing transition, chosen by its share of the opacity.
  const Resonance& absorber(double x) {
    if (lines_.size() == 1) return lines_.front();
    double rest = detail::uniform(rng_) * cross_section(x);
    for (const Resonance& line : lines_) {
      rest -= line.strength * voigt_H(line.a, line.detuning(x));
      if (rest < 0) return line;
    }
    return lines_.back();
  }

  /// Channel by which it decays; nullptr: back.
  const Channel* decay(const Resonance& line) {
    if (line.fluorescence.empty()) return nullptr;
    double rest = detail::uniform(rng_);
    for (const Channel& channel : line.fluorescence) {
      rest -= channel.probability;
      if (rest < 0) return &channel;
    }
    return nullptr;
  }

  /// In the atom's frame the frequency changes only by the difference of the levels:
  /// nu' = nu (1 - u.k/c) - (nu_i - nu_f), and back with the new direction. Core skipping draws the
  /// perpendicular velocity beyond x_crit: Dijkstra, Haiman & Spaans (2006), ApJ 649, 14.
  double scatter_on_line(double x) {
    const Resonance& line = absorber(x);
    const double y = line.detuning(x);
    const double u_parallel = line.parallel(y, rng_);
    const double x_crit = medium_.x_crit(r_, k_, line.a, line.strength);
    const double x_min = std::abs(y) < x_crit ? x_crit : 0;
    const double size = std::sqrt(x_min * x_min - std::log(detail::uniform(rng_)));
    const double angle = 2 * pi * detail::uniform(rng_);
    Vector e1, e2, u;
    complete_frame(k_, e1, e2);
    for (int i = 0; i < 3; ++i) u[i] = u_parallel * k_[i] + size * (std::cos(angle) * e1[i] + std::sin(angle) * e2[i]);

    const Channel* channel = decay(line);
    const double E = channel ? channel->E : std::abs(y - u_parallel) < 0.2 ? line.E : line.E_wing;
    const Vector out = turned(k_, detail::share_cosine(E, rng_), rng_);
    const double mu = dot(k_, out);
    const double recoil = p_.recoil ? line.recoil * (1 - mu) : 0;
    k_ = out;
    if (!channel) return line.x + line.width * (y + dot(u, out) - u_parallel - recoil);
    const double nu_f = light_speed / (channel->wavelength * angstrom);
    const double in_atom = line.nu * (y - u_parallel) * line.speed / light_speed;  // nu - nu_i
    const double v =
        light_speed * std::log(nu_f / line.nu) + light_speed * in_atom / nu_f + (dot(u, out) - recoil) * line.speed;
    return line.x + v / lines_.front().speed;
  }

  const Problem& p_;
  const Medium& medium_;
  const std::vector<Resonance>& lines_;
  detail::Rng rng_;
  Vector r_{}, k_{}, last_{};
  bool in_cavity_ = false;
  double x_lab_ = 0, scatterings_ = 0, path_ = 0, column_ = 0;
};

}  // namespace

double thermal_speed(double temperature) { return std::sqrt(2 * boltzmann * temperature / hydrogen_mass); }

double thermal_speed(const Transition& transition, double temperature) {
  return std::sqrt(2 * boltzmann * temperature / (transition.mass * atomic_mass));
}

double damping_parameter(double temperature) {
  return einstein_A / (4 * pi * nu0) * light_speed / thermal_speed(temperature);
}

double recoil_parameter(double temperature) {
  return planck * nu0 / (hydrogen_mass * light_speed * thermal_speed(temperature));
}

// The trapezium rule of step h, corrected for the poles at t = x +- i a (Chiarella & Reichel 1968,
// Math. Comp. 22, 137; Hunter & Regan 1972, Math. Comp. 26, 539), with z = x + i a:
//   H = h a/pi sum_n exp(-t_n^2) / ((x-t_n)^2 + a^2) + 2 Re[exp(-z^2) / (1 - exp(-2 pi i
//   (z-t_0)/h))]
// up to exp(-pi^2/h^2) = 1e-12. The nodes t_n = n h or (n + 1/2) h are those farther from x, so
// that the pole never meets a node.
double voigt_H(double a, double x) {
  constexpr double h = 0.6;
  constexpr int count = 10;
  static const auto weights = [] {  // of the pairs +-t
    std::array<std::array<double, count>, 2> w;
    for (int n = 0; n < count; ++n) {
      w[0][n] = (n == 0 ? 1 : 2) * h / pi * std::exp(-std::pow(n * h, 2));
      w[1][n] = 2 * h / pi * std::exp(-std::pow((n + 0.5) * h, 2));
    }
    return w;
  }();
  x = std::abs(x);
  const double cell = x / h - std::floor(x / h);
  const bool half = cell < 0.25 || cell > 0.75;
  const double offset = half ? 0.5 : 0;
  double sum = 0;
  for (int n = 0; n < count; ++n) {
    const double t = (n + offset) * h, minus = (x - t) * (x - t), plus = (x + t) * (x + t);
    sum += weights[half][n] * (x * x + t * t + a * a) / ((minus + a * a) * (plus + a * a));
  }
  sum *= a;
  if (x > 26) return sum;  // exp(-x^2) underflows
  const std::complex<double> z(x, a);
  const std::complex<double> pole = std::exp(std::complex<double>(0, -2 * pi) * (z / h - offset));
  return sum + 2 * std::real(std::exp(-z * z) / (1.0 - pole));
}

std::vector<Photon> run(const Problem& problem, std::uint64_t seed, std::size_t n) {
  const std::vector<Resonance> lines = resonances(problem);
  const Medium medium(problem, lines.front().speed);
  std::vector<Photon> photons;
  photons.reserve(n);
  for (std::size_t i = 0; i < n; ++i) photons.push_back(History(problem, medium, lines, seed, i).follow());
  return photons;
}

namespace detail {

double uniform(Rng& rng) { return (static_cast<double>(rng() >> 11) + 0.5) * 0x1p-53; }

// Zheng & Miralda-Escude (2002), ApJ 578, 33: a Lorentzian envelope, times exp(-u0^2) for u > u0.
// Any u0 >= 0 is exact; the table holds the one with the smallest envelope,
//   phi0 + (pi - phi0) exp(-u0^2),  tan(phi0) = a / (x - u0).
ParallelVelocity::ParallelVelocity(double a) : a_(a) {
  for (double x = 0.025; x < 20; x += 0.05) {
    double best = infinity, best_u0 = 0;
    for (double u0 = 0; u0 < std::min(x, 7.0); u0 += 0.01) {
      const double phi0 = std::atan2(a, x - u0);
      const double area = phi0 + (pi - phi0) * std::exp(-u0 * u0);
      if (area < best) best = area, best_u0 = u0;
    }
    u0_.push_back(best_u0);
  }
}

double ParallelVelocity::operator()(double x, Rng& rng) const {
  const double size = std::abs(x);
  const double u0 = u0_[static_cast<std::size_t>(std::min(size * 20, u0_.size() - 1.0))];
  const double scale = std::exp(-u0 * u0);
  const double phi0 = std::atan2(a_, size - u0);
  const double left = phi0 / (phi0 + (pi - phi0) * scale);
  while (true) {
    const bool below = uniform(rng) < left;
    const double r = uniform(rng);
    // u = x + a tan(phi - pi/2), written so that nothing is lost far from the resonance
    const double u = size - a_ / std::tan(below ? phi0 * r : phi0 + (pi - phi0) * r);
    if (uniform(rng) * (below ? 1 : scale) < std::exp(-u * u)) return x < 0 ? -u : u;
  }
}

double dipole_cosine(Rng& rng) {
  while (true) {
    const double mu = 2 * uniform(rng) - 1;
    if (2 * uniform(rng) < 1 + mu * mu) return mu;
  }
}

/// E > 0: isotropic with 1 - E, dipole with E. E < 0: by rejection from the flat function above it.
double share_cosine(double E, Rng& rng) {
  if (E >= 0) {
    const bool isotropic = E == 0 || (E != 1 && uniform(rng) < 1 - E);
    return isotropic ? 2 * uniform(rng) - 1 : dipole_cosine(rng);
  }
  while (true) {
    const double mu = 2 * uniform(rng) - 1, most = 1 - E / 4;
    if (uniform(rng) * most < 1 + E / 4 * (3 * mu * mu - 1)) return mu;
  }
}

double henyey_greenstein_cosine(double g, Rng& rng) {
  const double r = uniform(rng);
  if (std::abs(g) < 1e-6) return 2 * r - 1;
  const double q = (1 - g * g) / (1 - g + 2 * g * r);
  return (1 + g * g - q * q) / (2 * g);
}

}  // namespace detail
}  // namespace oracle
