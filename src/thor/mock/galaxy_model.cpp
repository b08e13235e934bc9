#include "thor/mock/galaxy_model.hpp"

#include <algorithm>

#include "thor/mock/gas_state.hpp"

namespace thor::mock {

GalaxyModel::GalaxyModel(const GalaxyOptions& o) {
  virial_radius = mock::virial_radius(o) * kpc;
  flat_speed = 1.2 * std::sqrt(gravity * o.halo_mass * solar_mass / virial_radius);
  box = 3 * virial_radius;
  disc_scale = o.disc_scale * kpc;
  disc_height = 0.15 * disc_scale;
  disc_edge = 6 * disc_scale;
  cone_cosine = std::cos(constants::pi / 6);
  cone_start = 4 * disc_height;
  cone_end = 0.5 * virial_radius;
  outflow_speed = o.outflow_speed * constants::km;
  core = 0.1 * virial_radius;

  // P(r) = integral from r of rho v^2(r)/r dr, from the corner of the cube inwards; beyond it the gas is isothermal.
  constexpr int steps = 512;
  const double first = 1e-3 * core, last = box;
  log_first_ = std::log(first), log_step_ = std::log(last / first) / steps;
  const double ionized = molecular_weight(electron_abundance(0, 1e6)) * proton_mass / constants::k_B;
  double pressure = halo_profile(last) * flat_speed * flat_speed / 2;
  halo_temperature_.assign(steps + 1, 0.);
  for (int i = steps; i >= 0; --i) {
    const double radius = std::exp(log_first_ + i * log_step_);
    halo_temperature_[i] = ionized * pressure / halo_profile(radius);
    const double inside = std::exp(log_first_ + (i - 0.5) * log_step_), speed = rotation(inside);
    pressure += halo_profile(inside) * speed * speed * log_step_;
  }
}

double GalaxyModel::rotation(double radius) const {
  const double turn = 0.25 * disc_scale;
  return flat_speed * radius / std::sqrt(radius * radius + turn * turn);
}

Vector GalaxyModel::circular(const Vector& p) const {
  const double radius = std::hypot(p[0], p[1]), speed = rotation(radius) / std::max(radius, 1e-9 * disc_scale);
  return {-speed * p[1], speed * p[0], 0};
}

bool GalaxyModel::in_cone(const Vector& p) const {
  const double r = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  return r > cone_start && r < cone_end && std::abs(p[2]) > cone_cosine * r;
}

bool GalaxyModel::in_disc(const Vector& p) const {
  return std::abs(p[2]) < 2 * disc_height && std::hypot(p[0], p[1]) < disc_edge;
}

double GalaxyModel::halo_temperature(double radius) const {
  const double place = (std::log(std::max(radius, 1e-9 * core)) - log_first_) / log_step_;
  const double i = std::clamp(std::floor(place), 0., double(halo_temperature_.size() - 2));
  const double part = std::clamp(place - i, 0., 1.);
  return (1 - part) * halo_temperature_[std::size_t(i)] + part * halo_temperature_[std::size_t(i) + 1];
}

/// R exp(-R) is the density of the sum of two exponentials.
double GalaxyModel::disc_radius(Draw& draw) const {
  for (;;) {
    const double radius = disc_scale * (draw.exponential() + draw.exponential());
    if (radius < disc_edge) return radius;
  }
}

Vector GalaxyModel::disc_place(Draw& draw, double height) const {
  const double radius = disc_radius(draw), phi = draw.uniform(0, 2 * constants::pi);
  return {radius * std::cos(phi), radius * std::sin(phi), height * disc_height * draw.sech2()};
}

double GalaxyModel::metallicity(double radius, Draw& draw) const {
  return 0.5 * solar_metallicity * std::pow(10., -0.1 * radius / disc_scale + 0.1 * draw.gaussian());
}

std::vector<Clump> disc_clumps(const GalaxyModel& model, std::uint64_t seed) {
  constexpr int count = 200;
  std::vector<Clump> clumps;
  std::vector<double> masses;
  double total = 0;
  for (int i = 0; i < count; ++i) {
    Draw draw(seed, Use::clump, i);
    Clump clump;
    clump.centre = model.disc_place(draw, 0.5);
    clump.velocity = model.circular(clump.centre);
    const Vector random = draw.gaussians(8 * constants::km);
    for (int d = 0; d < 3; ++d) clump.velocity[d] += random[d];
    // dN/dM ~ M^-1.8 up to 20 times the smallest mass, as for giant molecular clouds (Rosolowsky 2005, PASP 117, 1403:
    // -1.5 to -2.1)
    const double mass = std::pow(1 - draw.uniform() * (1 - std::pow(20., -0.8)), -1 / 0.8);
    masses.push_back(mass);
    clump.share = total += mass;
    clumps.push_back(clump);
  }
  for (int i = 0; i < count; ++i) {
    clumps[i].share /= total;
    clumps[i].sigma = 0.03 * model.disc_scale * std::cbrt(masses[i] * count / total);
  }
  return clumps;
}

const Clump& pick(const std::vector<Clump>& clumps, double share) {
  return *std::lower_bound(clumps.begin(), clumps.end() - 1, share,
                           [](const Clump& clump, double wanted) { return clump.share < wanted; });
}

Vector place_in(const Clump& clump, Draw& draw) {
  Vector place = draw.gaussians(clump.sigma);
  for (int d = 0; d < 3; ++d) place[d] += clump.centre[d];
  return place;
}

}  // namespace thor::mock
