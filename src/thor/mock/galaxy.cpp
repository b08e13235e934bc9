#include "thor/mock/galaxy.hpp"

#include <algorithm>

#include "thor/core/interrupt.hpp"
#include "thor/mock/galaxy_model.hpp"
#include "thor/mock/gas_state.hpp"
#include "thor/mock/volumes.hpp"

namespace thor::mock {
namespace {

constexpr int galaxy_neighbours = 32;

Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator*(double s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }

/// Division of gas elements and mass among the parts; elements of one part have equal masses.
struct Shares {
  double elements, mass;  ///< mass in M_sun
};

class Galaxy {
 public:
  explicit Galaxy(const GalaxyOptions& options)
      : options_(options), model_(options), clumps_(disc_clumps(model_, options.seed)) {}

  Snapshot make(int threads) {
    snapshot_.cosmology = options_.cosmology;
    snapshot_.redshift = options_.redshift;
    snapshot_.box = model_.box;
    snapshot_.seed = options_.seed;
    snapshot_.kind = "galaxy";
    snapshot_.parameters = to_text(options_);
    snapshot_.gas.reserve(options_.gas_particles);
    add_outflow({0.15, 0.1 * options_.gas_mass});
    add_halo({0.2, 0.75 * options_.cgm_mass});
    add_halo_clouds({0.15, 0.25 * options_.cgm_mass});
    add_disc(options_.gas_particles - snapshot_.gas.size(), options_.gas_mass);
    for (GasElement& g : snapshot_.gas) g.position = inside(g.position);
    set_densities(threads);
    set_disc_state();
    set_ionization(snapshot_);
    add_stars();
    std::uint64_t id = 0;
    for (GasElement& g : snapshot_.gas) g.id = ++id;
    for (Star& s : snapshot_.stars) s.id = ++id;
    return std::move(snapshot_);
  }

 private:
  /// Vector from the galaxy's centre to the corner of the cube.
  Vector inside(Vector p) const {
    for (double& x : p) {
      x = x / model_.box + 0.5;
      x = (x - std::floor(x)) * model_.box;
    }
    return p;
  }

  std::size_t count(const Shares& shares) const {
    return std::size_t(shares.elements * double(options_.gas_particles));
  }

  void add(const GasElement& element) {
    if (snapshot_.gas.size() % 4096 == 0) stop_if_interrupted();
    snapshot_.gas.push_back(element);
  }

  void add_disc(std::size_t n, double mass) {
    for (std::size_t i = 0; i < n; ++i) {
      Draw draw(options_.seed, Use::disc, i);
      GasElement g;
      g.mass = mass * solar_mass / double(n);
      if (draw.uniform() < 0.5) {
        const Clump& clump = pick(clumps_, draw.uniform());
        g.component = Component::clump;
        g.position = place_in(clump, draw);
        g.velocity = clump.velocity + draw.gaussians(4 * constants::km);
      } else {
        g.component = Component::disc;
        g.position = model_.disc_place(draw, 1);
        g.velocity = model_.circular(g.position) + draw.gaussians(8 * constants::km);
      }
      g.metallicity = model_.metallicity(std::hypot(g.position[0], g.position[1]), draw);
      add(g);
    }
  }

  /// Outflow: half of the elements are hot, with 30 % of the mass; the others are clouds, 0.6 times as fast. The mass
  /// flux does not depend on the radius.
  void add_outflow(const Shares& shares) {
    const Inversion radius(model_.cone_start, model_.cone_end, [&](double r) { return 1 / model_.outflow(r); });
    const auto way_out = [&](Draw& draw) -> Vector {
      const double mu = draw.uniform(model_.cone_cosine, 1), phi = draw.uniform(0, 2 * constants::pi);
      const double s = std::sqrt(1 - mu * mu), side = draw.uniform() < 0.5 ? -1 : 1;
      return {s * std::cos(phi), s * std::sin(phi), side * mu};
    };
    std::vector<Clump> clouds;
    constexpr int cloud_count = 60;
    for (int i = 0; i < cloud_count; ++i) {
      Draw draw(options_.seed, Use::outflow_cloud, std::uint64_t(i));
      const Vector direction = way_out(draw);
      const double r = radius((i + draw.uniform()) / cloud_count);
      clouds.push_back({r * direction, 0.6 * model_.outflow(r) * direction, 0.03 * (r + 2 * model_.disc_scale),
                        (i + 1.) / cloud_count});
    }
    const std::size_t n = count(shares), hot = n / 2;
    for (std::size_t i = 0; i < n; ++i) {
      Draw draw(options_.seed, Use::outflow, i);
      GasElement g;
      if (i < hot) {
        const Vector direction = way_out(draw);
        const double r = radius(draw.uniform());
        g.component = Component::outflow;
        g.mass = 0.3 * shares.mass * solar_mass / double(hot);
        g.position = r * direction;
        g.velocity = model_.outflow(r) * direction + draw.gaussians(0.1 * model_.outflow_speed);
        g.temperature = 5e6 * std::pow(1 + r / model_.disc_scale, -2. / 3);
      } else {
        const Clump& cloud = pick(clouds, draw.uniform());
        g.component = Component::outflow_cloud;
        g.mass = 0.7 * shares.mass * solar_mass / double(n - hot);
        g.position = place_in(cloud, draw);
        g.velocity = cloud.velocity + draw.gaussians(10 * constants::km);
        g.temperature = 1e4;
      }
      g.metallicity = 0.5 * solar_metallicity;
      add(g);
    }
  }

  /// Hot halo, which fills the cube except for the disc and the outflow.
  void add_halo(const Shares& shares) {
    const double corner = 0.5 * std::sqrt(3.) * model_.box;
    const Inversion radius(0, corner, [&](double r) { return r * r * model_.halo_profile(r); });
    const std::size_t n = count(shares);
    for (std::size_t i = 0; i < n; ++i) {
      Draw draw(options_.seed, Use::halo, i);
      GasElement g;
      double r = 0;
      const auto outside = [&](const Vector& p) {
        return std::ranges::any_of(p, [&](double x) { return std::abs(x) > 0.5 * model_.box; });
      };
      do {
        r = radius(draw.uniform());
        g.position = r * draw.direction();
      } while (outside(g.position) || model_.in_cone(g.position) || model_.in_disc(g.position));
      g.component = Component::halo;
      g.mass = shares.mass * solar_mass / double(n);
      g.velocity = 0.2 * model_.circular(g.position) + draw.gaussians(0.2 * model_.flat_speed);
      g.temperature = model_.halo_temperature(r);
      g.metallicity = 0.1 * solar_metallicity;
      add(g);
    }
  }

  /// Clouds of 1e4 K in pressure equilibrium with the halo around them, falling inwards.
  void add_halo_clouds(const Shares& shares) {
    const double edge = std::cbrt(3 / (4 * constants::pi)) * model_.box,
                 core = model_.core;  // as if the ball were as large as the cube
    const double halo_mass = 0.75 * options_.cgm_mass * solar_mass;
    const double centre = halo_mass / (4 * constants::pi * core * core * (edge - core * std::atan(edge / core)));
    constexpr int cloud_count = 80;
    std::vector<Clump> clouds;
    for (int i = 0; i < cloud_count; ++i) {
      Draw draw(options_.seed, Use::halo_cloud, std::uint64_t(i));
      Clump cloud;
      Vector direction;
      double r = 0;
      do {
        r = draw.uniform(0.15, 0.9) * model_.virial_radius;
        direction = draw.direction();
      } while (model_.in_cone(r * direction));
      const double density = centre * model_.halo_profile(r) * model_.halo_temperature(r) / 1e4;
      const double mass = shares.mass * solar_mass / cloud_count;
      cloud.centre = r * direction;
      cloud.velocity = -0.3 * model_.flat_speed * direction + draw.gaussians(0.4 * model_.flat_speed);
      cloud.sigma = std::cbrt(mass / density) / std::sqrt(2 * constants::pi);
      cloud.share = (i + 1.) / cloud_count;
      clouds.push_back(cloud);
    }
    const std::size_t n = count(shares);
    for (std::size_t i = 0; i < n; ++i) {
      Draw draw(options_.seed, Use::cloud_member, i);
      const Clump& cloud = pick(clouds, draw.uniform());
      GasElement g;
      g.component = Component::halo_cloud;
      g.mass = shares.mass * solar_mass / double(n);
      g.position = place_in(cloud, draw);
      g.velocity = cloud.velocity + draw.gaussians(10 * constants::km);
      g.temperature = 1e4;
      g.metallicity = 0.15 * solar_metallicity;
      add(g);
    }
  }

  void set_densities(int threads) {
    std::vector<Vector> positions;
    positions.reserve(snapshot_.gas.size());
    for (const GasElement& g : snapshot_.gas) positions.push_back(g.position);
    const std::vector<double> room = volumes(positions, model_.box, galaxy_neighbours, threads);
    for (std::size_t i = 0; i < room.size(); ++i) snapshot_.gas[i].density = snapshot_.gas[i].mass / room[i];
  }

  /// Gas of the disc is cooler where it is denser, and forms stars by a Schmidt law: 0.06 of its mass per free-fall
  /// time above n_H = 0.5 cm^-3.
  void set_disc_state() {
    for (GasElement& g : snapshot_.gas) {
      if (g.component != Component::disc && g.component != Component::clump) continue;
      const double n = hydrogen_density(g.density);
      g.temperature = 1e4 * std::clamp(std::pow(n, -0.7), 0.01, 1.);
      const double free_fall = std::sqrt(3 * constants::pi / (32 * gravity * g.density));
      if (n > 0.5) g.sfr = 0.06 * (g.mass / solar_mass) / (free_fall / year);
    }
  }

  /// Stars have formed at a rate that rose or fell exponentially to the present rate of the gas. Those younger than 30
  /// Myr are in the clumps.
  void add_stars() {
    double sfr = 0;
    for (const GasElement& g : snapshot_.gas) sfr += g.sfr;
    const double oldest = 0.9 * options_.cosmology.age(options_.redshift);
    const double span = options_.stellar_mass / std::max(sfr, 1e-12) * year;  // duration at the present rate
    // Ages follow exp(-s age/oldest), and at age 0 the rate is the present one: oldest (1 - e^-s)/s = span.
    double low = -700, high = 700;
    for (int i = 0; i < 100; ++i) {
      const double s = 0.5 * (low + high);
      const double covered = std::abs(s) < 1e-9 ? 1 : -std::expm1(-s) / s;
      (covered * oldest > span ? low : high) = s;
    }
    const double s = std::abs(low) < 1e-6 ? 1e-6 : low;
    for (std::size_t i = 0; i < options_.stars; ++i) {
      Draw draw(options_.seed, Use::star, i);
      Star star;
      star.initial_mass = options_.stellar_mass * solar_mass / double(options_.stars);
      star.age = -std::log1p(draw.uniform() * std::expm1(-s)) / s * oldest;
      if (star.age < 30e6 * year) {
        const Clump& clump = pick(clumps_, draw.uniform());
        star.position = place_in(clump, draw);
        star.velocity = clump.velocity + draw.gaussians(5 * constants::km);
      } else {
        star.position = model_.disc_place(draw, 2);
        star.velocity = model_.circular(star.position) + draw.gaussians(20 * constants::km);
      }
      star.metallicity =
          model_.metallicity(std::hypot(star.position[0], star.position[1]), draw) * (1 - 0.5 * star.age / oldest);
      star.position = inside(star.position);
      snapshot_.stars.push_back(star);
    }
  }

  const GalaxyOptions options_;
  const GalaxyModel model_;
  const std::vector<Clump> clumps_;
  Snapshot snapshot_;
};

}  // namespace

Snapshot make_galaxy(const GalaxyOptions& options, int threads) {
  check(options);
  return Galaxy(options).make(threads);
}

}  // namespace thor::mock
