#include "thor/generators/source_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

#include "thor/core/message.hpp"
#include "thor/datasets/grid_file.hpp"
#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"
#include "thor/emission/stars.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/io/array/units.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// Luminosities are kept in single precision in this unit [erg/s].
constexpr double light_unit = 1e30;

/// Multiplies every cell's number by f(cell, value of a field there); what was dropped as bad gas is dark.
void multiply(std::vector<float>& cells, const std::string& path, const std::string& field, const Medium& m,
              int threads, const std::function<double(std::int64_t cell, double value)>& f) {
  std::mutex mutex;
  std::int64_t bad = 0;
  double example = 0;
  m.mesh->read_field(path, field, threads, [&](std::int64_t i, double value) {
    const double factor = std::ranges::binary_search(m.dropped, i) ? 0 : f(i, value);
    const auto product = float(double(cells[std::size_t(i)]) * factor);
    if (product >= 0 && std::isfinite(product)) {
      cells[std::size_t(i)] = product;
    } else {
      const std::lock_guard lock(mutex);
      ++bad, example = value;
    }
  });
  if (bad > 0) {
    refuse_source(
        path, fmt::format("array \"{}\": {} cells are NaN or negative, {} for example; mend the file (`thor grid` has "
                          "--on-bad-cells)",
                          field, bad, example));
  }
}

void check_field(const io::Input& file, const std::string& field, const HostMesh& mesh, bool from_cells) {
  if (!file.has(field)) {
    refuse_source(
        file.path().string(),
        fmt::format("no array \"{}\", which the gas generator needs{}", field,
                    from_cells
                        ? ": `thor grid --mass-weighted` writes what `from_cells` takes"
                        : ": grid the snapshot with `thor grid --emission lya`, name another `field`, or set "
                          "`from_cells: true` to compute it from the mean density and temperature of each cell, "
                          "which is wrong by orders of magnitude where a cell holds gas of several temperatures"));
  }
  mesh.check_field(file, field);
}

/// The luminosity of every cell, in light_unit.
std::vector<float> cell_light(const config::Generator& g, const Medium& m, int threads) {
  const HostMesh& mesh = *m.mesh;
  const io::Input file(g.path);
  std::vector<float> light(std::size_t(mesh.cells()), 1.f);
  const bool recombination = g.emission == config::Emission::recombination;
  std::string field = recombination ? "emissivity_recombination" : "emissivity_collisional";
  if (g.emission == config::Emission::field) field = g.field;
  if (recombination && file.has("HI_temperature")) {
    warning(
        "{}: recombination light has the temperature and velocity of HI, which is wrong in cells where ionised gas "
        "moves differently. Use a finer grid.",
        g.path);
  }
  if (!g.from_cells) {
    check_field(file, field, mesh, false);
    const double unit = io::emissivity_unit(file, field);
    multiply(light, g.path, field, m, threads, [&](std::int64_t cell, double emissivity) {
      return emissivity * (unit * mesh.volume(cell) / light_unit);
    });
    return light;
  }
  const std::string with = recombination ? "HII_density" : "HI_density";
  for (const auto& name : {std::string("electron_density"), with, std::string("temperature")}) {
    check_field(file, name, mesh, true);
  }
  for (const auto& name : {std::string("electron_density"), with}) {
    const double unit = io::cgs_unit(file, name, Dimension::number_density);
    multiply(light, g.path, name, m, threads, [&](std::int64_t, double n) { return n * unit; });
  }
  const double kelvin = io::cgs_unit(file, "temperature", Dimension::temperature);
  multiply(light, g.path, "temperature", m, threads, [&](std::int64_t cell, double value) {
    const double temperature = value * kelvin;
    const double rate = recombination ? emission::recombination_emissivity(temperature, 1, 1)
                                      : emission::collisional_emissivity(temperature, 1, 1);
    return rate * mesh.volume(cell) / light_unit;
  });
  return light;
}

/// The number nearest to n/golden ratio, from there upward, that has no divisor in common with n.
std::uint64_t coprime(std::uint64_t n) {
  auto s = std::uint64_t(double(n) * 0.6180339887498949);
  while (std::gcd(s, n) != 1) ++s;
  return s;
}

/// Sources one after the other, with their shares of the photons.
class ListBuilder {
 public:
  ListBuilder(const config::Generator& generator, std::uint64_t seed)
      : generator_(generator), random_(mix64(seed ^ 0x5851f42d4c957f2dull)) {}

  /// To call first for all luminosities, whose sum take() needs.
  void add_luminosity(double luminosity) {
    if (luminosity < generator_.minimum_luminosity) {
      cut_ += luminosity;
      cut_sources_ += luminosity > 0 ? 1 : 0;
    } else {
      sum_ += luminosity;
    }
  }
  /// To call then for each luminosity again, in the same order. A source that is dark or left out has no slots.
  void take(double luminosity) {
    std::uint64_t slots = 0;
    double weight = 0;
    if (luminosity > 0 && luminosity >= generator_.minimum_luminosity) {
      ++lit_;
      if (generator_.photons > 0) {
        slots = std::uint64_t(luminosity / sum_ * 0x1p63 + 0.5);
      } else {
        const double n = std::round(generator_.photons_per_1e42 * luminosity / 1e42);
        slots = std::uint64_t(std::clamp(n, double(generator_.min_photons), double(generator_.max_photons)));
        weight = luminosity / double(slots);
        light_.add(weight, slots);
      }
    }
    list_.end.push_back(count_ += slots);
    if (generator_.photons == 0) list_.weight.push_back(weight);
  }
  SourceList& list() { return list_; }

  std::shared_ptr<const SourceList> finish(Light& light, const std::string& what) {
    if (cut_sources_ > 0) {
      message("thor: {}: left out {} sources below {:.3g} erg/s, with {:.3g} of {:.3g} erg/s\n", what, cut_sources_,
              generator_.minimum_luminosity, cut_, cut_ + sum_);
    }
    if (count_ == 0)
      refuse_source(generator_.path, fmt::format("{}: nothing shines{}", what, cut_sources_ > 0 ? " so bright" : ""));
    if (generator_.photons > 0) {
      light_.share(sum_, generator_.photons);
      list_.start = random_;
      list_.step = 0x9e3779b97f4a7c15ull;
    } else {  // each slot once before any comes twice
      list_.start = fraction64(multiply_high(random_, count_, 0), count_);
      list_.step = count_ > 1 ? fraction64(coprime(count_), count_) : 0;
    }
    light_.sources = lit_;
    light = light_;
    return std::make_shared<const SourceList>(std::move(list_));
  }

 private:
  const config::Generator& generator_;
  std::uint64_t random_, count_ = 0, lit_ = 0, cut_sources_ = 0;
  double sum_ = 0, cut_ = 0;
  Light light_;
  SourceList list_;
};

std::shared_ptr<const SourceList> list_gas(const config::Generator& g, const Medium& m, std::uint64_t seed,
                                           Light& light) {
  const int threads = std::max(1, int(std::thread::hardware_concurrency()));
  const std::vector<float> cells = cell_light(g, m, threads);
  ListBuilder builder(g, seed);
  for (const float l : cells) builder.add_luminosity(double(l) * light_unit);
  builder.list().end.reserve(cells.size());
  for (const float l : cells) builder.take(double(l) * light_unit);
  return builder.finish(light, "gas");
}

/// Whether a position, in units of the medium's size, is inside a medium without cells, in either precision.
bool is_inside(const Vec3<float>& p, const Medium& m) {
  const Vec3<double> q{p.x, p.y, p.z};
  return std::visit(
      [&]<class D>(const D& data) {
        if constexpr (requires { view<double>(data).locate(q); })
          return view<double>(data).locate(q) != outside && view<float>(convert<float>(data)).locate(p) != outside;
        else
          return false;
      },
      m.dataset);
}

/// Adds the places of a source and its copies to a list: the integers of a cell and the offset in it, or the position.
/// Whether each is inside the medium.
std::vector<bool> add_places(const std::array<double, 3>& position, const Medium& m, SourceList& list) {
  if (!m.mesh) {
    const Vec3<float> p{float(position[0] / m.size), float(position[1] / m.size), float(position[2] / m.size)};
    list.offset.insert(list.offset.end(), {p.x, p.y, p.z});
    return {is_inside(p, m)};
  }
  std::vector<bool> inside;
  for (const auto& site : m.mesh->copies({position[0] / m.size, position[1] / m.size, position[2] / m.size})) {
    const HostMesh::Site place = site.value_or(HostMesh::Site{});
    list.place.insert(list.place.end(), place.place.begin(), place.place.end());
    for (const double offset : place.offset) list.offset.push_back(float(offset));
    inside.push_back(site.has_value());
  }
  return inside;
}

double luminosity_of(const PointSource& p, const config::Generator& g) {
  if (g.brightness == config::Brightness::ionizing_rate) return emission::lya_of_ionizing_rate(p.brightness);
  if (g.brightness == config::Brightness::sfr) return emission::lya_of_sfr(p.brightness, g.efficiency);
  return p.brightness;
}

std::shared_ptr<const SourceList> list_points(const config::Generator& g, const Medium& m, std::uint64_t seed,
                                              Light& light) {
  ListBuilder builder(g, seed);
  SourceList& list = builder.list();
  std::vector<double> luminosities;  // 0 for a source outside the medium
  double outside_light = 0;
  std::size_t outside_sources = 0;
  for (const PointSource& p : read_sources(g)) {
    const double luminosity = luminosity_of(p, g);
    for (const bool inside : add_places(p.position, m, list)) {
      if (!inside) {
        ++outside_sources;
        outside_light += luminosity;
      }
      if (g.frame == config::RestFrame::source) {
        for (const double v : p.velocity) list.velocity.push_back(float(v / m.thermal_speed));
      }
      luminosities.push_back(inside ? luminosity : 0);
      builder.add_luminosity(luminosities.back());
    }
  }
  if (outside_sources > 0) {
    warning("{}: {} of {} sources are outside the {} and were left out, with {:.3g} erg/s", g.path, outside_sources,
            luminosities.size(), m.mesh ? m.mesh->name() : "gas", outside_light);
  }
  for (const double l : luminosities) builder.take(l);
  return builder.finish(light, "sources");
}

}  // namespace

std::shared_ptr<const SourceList> build_source_list(const config::Generator& generator, const Medium& medium,
                                                    std::uint64_t seed, Light& light) {
  return generator.type == config::GeneratorType::gas ? list_gas(generator, medium, seed, light)
                                                      : list_points(generator, medium, seed, light);
}

}  // namespace thor
