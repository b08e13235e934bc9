#include "thor/mock/box_galaxies.hpp"

#include <algorithm>

#include "thor/mock/box.hpp"

namespace thor::mock {
namespace {

/// Duration of star formation: at most 1 Gyr at the present rate, or half the age of the universe.
double time_of_formation(const BoxOptions& options) {
  return std::min(1e9 * year, 0.5 * options.cosmology.age(options.redshift));
}

/// A thin disc at a peak, in a random orientation.
class Disc {
 public:
  Disc(const LinearField& field, const PeakGalaxy& galaxy, std::size_t number, double speed, const BoxOptions& options)
      : galaxy_(galaxy), a_(1 / (1 + options.redshift)), box_(a_ * options.box_size * 1e3 * kpc) {
    Draw draw(options.seed, Use::galaxy, number);
    axis_ = draw.direction();
    // Any two directions perpendicular to the axis and to each other.
    const Vector helper = std::abs(axis_[0]) < 0.6 ? Vector{1, 0, 0} : Vector{0, 1, 0};
    first_ = cross(axis_, helper);
    const double norm = std::sqrt(first_[0] * first_[0] + first_[1] * first_[1] + first_[2] * first_[2]);
    for (double& x : first_) x /= norm;
    second_ = cross(axis_, first_);
    scale_ = kpc * std::cbrt(galaxy.sfr / 10);
    rotation_ = 150 * constants::km * std::cbrt(galaxy.sfr / 10);
    metallicity_ = 0.3 * solar_metallicity * std::cbrt(galaxy.sfr / 10);
    const std::size_t n = field.n, i = galaxy.site;
    const std::array<std::size_t, 3> site{i / (n * n), i / n % n, i % n};
    for (int d = 0; d < 3; ++d) {
      centre_[d] = (double(site[d]) + 0.5) / double(n) * box_ + a_ * 1e3 * kpc * field.displacement[i][d];
      velocity_[d] = speed * field.displacement[i][d];
    }
  }

  struct Sample {
    Vector position, velocity;
    double density;  ///< of a disc with the galaxy's mass [g/cm^3]
  };
  /// Exponential along the radius, to 4 scale lengths, and sech^2 in height, with a tenth of the scale, to 3 of them.
  Sample sample(Draw& draw) const {
    double radius = 0, height = 0;
    do {
      radius = draw.exponential() + draw.exponential();
    } while (radius > 4);
    do {
      height = draw.sech2();
    } while (std::abs(height) > 3);
    const double phi = draw.uniform(0, 2 * constants::pi);
    const double x = scale_ * radius * std::cos(phi), y = scale_ * radius * std::sin(phi), z = 0.1 * scale_ * height;
    const Vector random = draw.gaussians(10 * constants::km);
    Sample p{};
    for (int d = 0; d < 3; ++d) {
      p.position[d] = in_box(centre_[d] + x * first_[d] + y * second_[d] + z * axis_[d], box_);
      p.velocity[d] = velocity_[d] + random[d] + rotation_ * (std::cos(phi) * second_[d] - std::sin(phi) * first_[d]);
    }
    const double surface = galaxy_.mass / (2 * constants::pi * scale_ * scale_) * std::exp(-radius);
    p.density = surface / (0.2 * scale_) / std::pow(std::cosh(height), 2);
    return p;
  }
  double metallicity() const { return metallicity_; }

 private:
  PeakGalaxy galaxy_;
  double a_, box_, scale_, rotation_, metallicity_;
  Vector axis_, first_, second_, centre_{}, velocity_{};
};

bool is_peak(const std::vector<double>& density, std::size_t n, std::size_t i) {
  const std::size_t x = i / (n * n), y = i / n % n, z = i % n;
  for (std::size_t p = 0; p < 27; ++p) {
    const std::size_t j = ((x + n - 1 + p / 9) % n * n + (y + n - 1 + p / 3 % 3) % n) * n + (z + n - 1 + p % 3) % n;
    if (j != i && density[j] >= density[i]) return false;
  }
  return true;
}

/// Sites around a peak, nearest first.
std::vector<std::array<int, 3>> sites_around(int reach) {
  std::vector<std::array<int, 3>> sites;
  for (int x = -reach; x <= reach; ++x) {
    for (int y = -reach; y <= reach; ++y) {
      for (int z = -reach; z <= reach; ++z) {
        if (x * x + y * y + z * z <= reach * reach) sites.push_back({x, y, z});
      }
    }
  }
  std::ranges::stable_sort(sites, {}, [](const auto& s) { return s[0] * s[0] + s[1] * s[1] + s[2] * s[2]; });
  return sites;
}

}  // namespace

double in_box(double x, double box) {
  const double inside = x - std::floor(x / box) * box;
  return inside < box ? inside : 0;
}

double sfr_density(double redshift) {
  return 0.015 * std::pow(1 + redshift, 2.7) / (1 + std::pow((1 + redshift) / 2.9, 5.6));
}

std::vector<PeakGalaxy> find_galaxies(const std::vector<double>& density, const BoxOptions& options) {
  std::vector<std::size_t> peaks;
  for (std::size_t i = 0; i < density.size(); ++i) {
    if (is_peak(density, options.particles_per_side, i)) peaks.push_back(i);
  }
  std::ranges::stable_sort(peaks, std::greater{}, [&](std::size_t i) { return density[i]; });
  const double volume = std::pow(options.box_size, 3);
  peaks.resize(std::min(peaks.size(), std::size_t(std::max(1., std::round(0.02 * volume)))));
  // Rates in units of the characteristic rate, at equal steps of cumulative number, in the logarithm.
  const Inversion schechter(std::log(0.05), std::log(10.), [](double l) { return std::exp(-0.5 * l - std::exp(l)); });
  std::vector<PeakGalaxy> galaxies;
  double total = 0;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const double rate = std::exp(schechter(1 - (double(i) + 0.5) / double(peaks.size())));
    galaxies.push_back({peaks[i], rate, 0});
    total += rate;
  }
  for (PeakGalaxy& g : galaxies) {
    g.sfr *= sfr_density(options.redshift) * volume / total;
    g.mass = g.sfr * solar_mass / year * time_of_formation(options);
  }
  return galaxies;
}

void add_stars(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
               const BoxOptions& options) {
  std::vector<double> edges{0, 1, 2, 3, 5, 7, 10, 20, 30, 50, 100, 200, 500};  // [Myr]
  for (double& e : edges) e *= 1e6 * year;
  const double oldest = time_of_formation(options);
  std::erase_if(edges, [&](double e) { return e >= oldest; });
  edges.push_back(oldest);
  std::uint64_t id = std::uint64_t(field.n) * field.n * field.n;
  for (std::size_t i = 0; i < galaxies.size(); ++i) {
    const Disc disc(field, galaxies[i], i, speed, options);
    for (std::size_t j = 0; j + 1 < edges.size(); ++j) {
      Draw draw(options.seed, Use::star, i * 64 + j);
      const auto sample = disc.sample(draw);
      Star star;
      star.position = sample.position;
      star.velocity = sample.velocity;
      star.initial_mass = galaxies[i].sfr * solar_mass / year * (edges[j + 1] - edges[j]);
      star.age = draw.uniform(edges[j], edges[j + 1]);
      star.metallicity = disc.metallicity();
      star.id = ++id;
      snapshot.stars.push_back(star);
    }
  }
}

void gather_gas(Snapshot& snapshot, const LinearField& field, const std::vector<PeakGalaxy>& galaxies, double speed,
                const BoxOptions& options) {
  const auto n = std::ptrdiff_t(field.n);
  const auto around = sites_around(int(std::min<std::ptrdiff_t>(16, n / 2 - 1)));
  for (std::size_t i = 0; i < galaxies.size(); ++i) {
    const Disc disc(field, galaxies[i], i, speed, options);
    const auto site = std::ptrdiff_t(galaxies[i].site), x = site / (n * n), y = site / n % n, z = site % n;
    const auto wanted = std::max<std::size_t>(1, std::size_t(std::round(galaxies[i].mass / snapshot.gas[0].mass)));
    std::vector<GasElement*> members;
    for (const auto& step : around) {
      if (members.size() == wanted) break;
      GasElement& g =
          snapshot.gas[std::size_t(((x + step[0] + n) % n * n + (y + step[1] + n) % n) * n + (z + step[2] + n) % n)];
      if (g.component == Component::igm) members.push_back(&g);
    }
    for (GasElement* g : members) {
      Draw draw(options.seed, Use::galaxy_member, g->id);
      const auto sample = disc.sample(draw);
      g->component = Component::galaxy;
      g->position = sample.position;
      g->velocity = sample.velocity;
      g->density = sample.density;
      g->temperature = 1e4;
      g->metallicity = disc.metallicity();
      g->sfr = galaxies[i].sfr / double(members.size());
    }
  }
}

}  // namespace thor::mock
