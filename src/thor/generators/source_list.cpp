#include "thor/generators/source_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <thread>

#include "thor/core/message.hpp"
#include "thor/datasets/grid_file.hpp"
#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"
#include "thor/emission/stars.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/io/array_units.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// Luminosities are kept in single precision in this unit [erg/s].
constexpr double light_unit = 1e30;

/// Multiplies every cell's number by f(value of a field there); what was dropped as bad gas is dark.
void multiply(std::vector<float>& cells, const std::string& path, const std::string& field, const Cells& gas,
              int threads, const std::function<double(double)>& f) {
  std::mutex mutex;
  std::int64_t bad = 0;
  double example = 0;
  read_field(path, field, gas.shape(), threads, [&](std::int64_t i, double value) {
    const double factor = gas.is_dropped(i) ? 0 : f(value);
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

void check_field(const io::Input& file, const std::string& field, const GridShape& shape, bool from_cells) {
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
  const io::ArrayInfo info = file.array(field);
  for (std::size_t k = 0; k < 3; ++k) {
    if (info.shape.size() != 3 || !info.numeric || std::int64_t(info.shape[k]) != shape.count[k]) {
      refuse_source(file.path().string(), fmt::format("array \"{}\" has not the shape of the grid", field));
    }
  }
}

/// The luminosity of every cell, in light_unit.
std::vector<float> cell_light(const config::Generator& g, const Cells& gas, int threads) {
  const GridShape& shape = gas.shape();
  const io::Input file(g.path);
  const double volume = std::pow(shape.cell_size, 3);
  std::vector<float> light(std::size_t(shape.cells()), 1.f);
  const bool recombination = g.emission == config::Emission::recombination;
  std::string field = recombination ? "emissivity_recombination" : "emissivity_collisional";
  if (g.emission == config::Emission::field) field = g.field;
  if (!g.from_cells) {
    check_field(file, field, shape, false);
    const double scale = io::emissivity_unit(file, field) * volume / light_unit;
    multiply(light, g.path, field, gas, threads, [&](double emissivity) { return emissivity * scale; });
    return light;
  }
  const std::string with = recombination ? "HII_density" : "HI_density";
  for (const auto& name : {std::string("electron_density"), with, std::string("temperature")}) {
    check_field(file, name, shape, true);
  }
  for (const auto& name : {std::string("electron_density"), with}) {
    const double unit = io::cgs_unit(file, name, Dimension::number_density);
    multiply(light, g.path, name, gas, threads, [&](double n) { return n * unit; });
  }
  const double kelvin = io::cgs_unit(file, "temperature", Dimension::temperature);
  multiply(light, g.path, "temperature", gas, threads, [&](double value) {
    const double temperature = value * kelvin;
    const double rate = recombination ? emission::recombination_emissivity(temperature, 1, 1)
                                      : emission::collisional_emissivity(temperature, 1, 1);
    return rate * volume / light_unit;
  });
  return light;
}

/// Sources one after the other: those bright enough are kept, with their photons.
class ListBuilder {
 public:
  ListBuilder(const config::Generator& generator, std::uint64_t seed) : generator_(generator), seed_(seed) {}

  /// First all luminosities, to know their sum,
  void look(double luminosity) {
    if (luminosity < generator_.minimum_luminosity) {
      cut_ += luminosity;
      cut_sources_ += luminosity > 0 ? 1 : 0;
    } else {
      sum_ += luminosity;
    }
  }
  /// then the sources themselves, in the same order.
  void begin() {
    const std::uint64_t u = mix64(seed_ ^ 0x5851f42d4c957f2dull) >> 11;
    share_.emplace(generator_, sum_, double(u) * 0x1p-53);
  }
  bool take(double luminosity, const std::array<std::int32_t, 3>& cell) {
    if (luminosity <= 0 || luminosity < generator_.minimum_luminosity) return false;
    const std::uint64_t photons = share_->next(luminosity);
    if (photons == 0) return false;
    list_.end.push_back(count_ += photons);
    list_.weight.push_back(luminosity / double(photons));
    list_.cell.insert(list_.cell.end(), cell.begin(), cell.end());
    return true;
  }
  void offset(const std::array<float, 3>& offset) {
    list_.offset.insert(list_.offset.end(), offset.begin(), offset.end());
  }
  std::shared_ptr<const SourceList> finish(Light& light, const std::string& what) {
    if (cut_sources_ > 0) {
      message("thor: {}: {} sources below {:.3g} erg/s are left out, {:.3g} of {:.3g} erg/s in all\n", what,
              cut_sources_, generator_.minimum_luminosity, cut_, cut_ + sum_);
    }
    if (count_ == 0)
      refuse_source(generator_.path, fmt::format("{}: nothing shines{}", what, cut_sources_ > 0 ? " so bright" : ""));
    std::uint64_t before = 0;
    light.sources = list_.end.size();
    for (std::size_t i = 0; i < list_.end.size(); ++i) {
      if (generator_.photons > 0) list_.weight[i] = sum_ / double(count_);
      light.add(list_.weight[i], list_.end[i] - before);
      before = list_.end[i];
    }
    return std::make_shared<const SourceList>(std::move(list_));
  }

 private:
  const config::Generator& generator_;
  std::uint64_t seed_, count_ = 0, cut_sources_ = 0;
  double sum_ = 0, cut_ = 0;
  std::optional<PhotonShare> share_;
  SourceList list_;
};

std::shared_ptr<const SourceList> list_gas(const config::Generator& g, const Medium& m, std::uint64_t seed,
                                           Light& light) {
  const int threads = std::max(1, int(std::thread::hardware_concurrency()));
  const std::vector<float> cells = cell_light(g, *m.cells, threads);
  const double unit = light_unit * g.escape_fraction;
  ListBuilder builder(g, seed);
  for (const float l : cells) builder.look(double(l) * unit);
  builder.begin();
  const auto [nx, ny, nz] = m.grid.count;
  for (std::int64_t i = 0; i < m.grid.cells(); ++i) {
    builder.take(double(cells[std::size_t(i)]) * unit,
                 {std::int32_t(i / (ny * nz)), std::int32_t(i / nz % ny), std::int32_t(i % nz)});
  }
  return builder.finish(light, "gas");
}

std::shared_ptr<const SourceList> list_points(const config::Generator& g, const Medium& m, std::uint64_t seed,
                                              Light& light) {
  const std::vector<PointSource> points = read_sources(g);
  const auto& grid = std::get<UniformGrid<double>>(m.dataset);
  ListBuilder builder(g, seed);
  std::vector<std::array<double, 3>> places;
  std::vector<double> luminosities;
  double outside_light = 0;
  for (const PointSource& p : points) {
    double luminosity = p.brightness;
    if (g.brightness == config::Brightness::ionizing_rate) luminosity = emission::lya_of_ionizing_rate(p.brightness);
    if (g.brightness == config::Brightness::sfr) luminosity = emission::lya_of_sfr(p.brightness, g.efficiency);
    luminosity *= g.escape_fraction;
    std::array<double, 3> place{};
    bool inside = true;
    for (std::size_t k = 0; k < 3; ++k) {
      place[k] = p.position[k] / m.size + grid.zero[k];
      if (grid.periodic) place[k] -= grid.shape[k] * std::floor(place[k] / grid.shape[k]);
      inside = inside && place[k] >= 0 && place[k] <= grid.shape[k];
    }
    if (!inside) {
      outside_light += luminosity;
      continue;
    }
    places.push_back(place);
    luminosities.push_back(luminosity);
    builder.look(luminosity);
  }
  if (places.size() < points.size()) {
    warning("{}: {} of {} sources lie outside the grid and are left out, with {:.3g} erg/s", g.path,
            points.size() - places.size(), points.size(), outside_light);
  }
  builder.begin();
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::array<std::int32_t, 3> cell{};
    std::array<float, 3> offset{};
    for (std::size_t k = 0; k < 3; ++k) {
      cell[k] = std::min(std::int32_t(places[i][k]), grid.shape[k] - 1);
      offset[k] = float(places[i][k] - cell[k]);
    }
    if (builder.take(luminosities[i], cell)) builder.offset(offset);
  }
  return builder.finish(light, "sources");
}

}  // namespace

std::uint64_t PhotonShare::next(double luminosity) {
  if (generator_.photons == 0) {
    const double n = std::round(generator_.photons_per_1e42 * luminosity / 1e42);
    return std::uint64_t(std::clamp(n, double(generator_.min_photons), double(generator_.max_photons)));
  }
  sum_ += luminosity;
  const auto until = std::uint64_t(double(generator_.photons) * std::min(sum_ / luminosity_, 1.) + u_);
  const std::uint64_t photons = until - std::min(given_, until);
  given_ = std::max(given_, until);
  return photons;
}

std::shared_ptr<const SourceList> build_source_list(const config::Generator& generator, const Medium& medium,
                                                    std::uint64_t seed, Light& light) {
  if (!medium.cells) return nullptr;
  return generator.type == config::GeneratorType::gas ? list_gas(generator, medium, seed, light)
                                                      : list_points(generator, medium, seed, light);
}

}  // namespace thor
