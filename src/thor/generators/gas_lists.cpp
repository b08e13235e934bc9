#include "thor/generators/gas_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "thor/comm/together.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/generators/source_shares.hpp"
#include "thor/io/array/units.hpp"
#include "thor/math/exact_sum.hpp"

namespace thor {
namespace {

/// Luminosities are kept in single precision in this unit [erg/s].
constexpr double light_unit = 1e30;

/// Cells whose light is to be known: all, or those of a domain.
struct ShiningCells {
  const HostMesh& mesh;
  const std::vector<std::int64_t>& dropped;
  int threads;
};

/// Multiplies every cell's number by f(cell, value of a field there).
void multiply(std::vector<float>& cells, const std::string& path, const std::string& field, const ShiningCells& shining,
              const std::function<double(std::int64_t cell, double value)>& f) {
  std::mutex mutex;
  std::int64_t bad = 0;
  double example = 0;
  const CellNumbers number = shining.mesh.numbers();
  const auto is_dropped = [&](std::int64_t i) {
    return std::ranges::binary_search(shining.dropped, std::int64_t(number(std::uint64_t(i))));
  };
  shining.mesh.read_field(path, field, shining.threads, [&](std::int64_t i, double value) {
    const double factor = !shining.dropped.empty() && is_dropped(i) ? 0 : f(i, value);
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
std::vector<float> cell_light(const config::Generator& g, const ShiningCells& shining) {
  const HostMesh& mesh = shining.mesh;
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
    multiply(light, g.path, field, shining, [&](std::int64_t cell, double emissivity) {
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
    multiply(light, g.path, name, shining, [&](std::int64_t, double n) { return n * unit; });
  }
  const double kelvin = io::cgs_unit(file, "temperature", Dimension::temperature);
  multiply(light, g.path, "temperature", shining, [&](std::int64_t cell, double value) {
    const double temperature = value * kelvin;
    const double rate = recombination ? emission::recombination_emissivity(temperature, 1, 1)
                                      : emission::collisional_emissivity(temperature, 1, 1);
    return rate * mesh.volume(cell) / light_unit;
  });
  return light;
}

/// What the cells of one process add to the light of a generator.
struct GasSums {
  ExactSum light, cut, of_photons, squares;
  std::uint64_t lit = 0, cut_sources = 0, photons = 0;
  double faintest = 1e300, brightest = 0;
};

}  // namespace

GasLists::GasLists(const config::Generator& generator, const Medium& medium, std::uint64_t seed,
                   const EmitterOptions& options, Light& light)
    : generator_(generator), mesh_(medium.mesh), dropped_(medium.dropped), partition_(options.partition) {
  const comm::World alone{comm::World::Alone()};
  const comm::World& world = options.world ? *options.world : alone;
  std::vector<int> held{0};
  if (partition_) {
    held = partition_->held_by(world.rank(), world.ranks());
    partition_->for_each_run([this](std::int64_t, std::int64_t end, int domain) {
      slots_.cell.push_back(std::uint64_t(end)), slots_.domain.push_back(domain);
    });
  } else {
    slots_.cell.push_back(std::uint64_t(mesh_->cells())), slots_.domain.push_back(0);
  }
  slots_.cell.shrink_to_fit(), slots_.domain.shrink_to_fit();
  std::map<int, std::vector<float>> lights;
  for (const int domain : held) lights.emplace(domain, light_of(domain));
  add_up(lights, world, options.silent, light);
  slots_.table = order_of_slots(generator_, seed, slots_.end.back());
  for (auto& [domain, of_cells] : lights) {
    held_[domain] = std::make_shared<const SourceList>(list_of(domain, of_cells));
    of_cells = {};
  }
}

std::shared_ptr<const HostMesh> GasLists::mesh_of(int domain) const {
  return partition_ ? std::shared_ptr<const HostMesh>(partition_->mesh(domain)) : mesh_;
}

std::vector<float> GasLists::light_of(int domain) const {
  const auto mesh = mesh_of(domain);
  return cell_light(generator_, {*mesh, dropped_, available_threads()});
}

/// Collective: the sum of all light, and where the slots of each run of cells end.
void GasLists::add_up(const std::map<int, std::vector<float>>& lights, const comm::World& world, bool silent,
                      Light& light) {
  const auto counts = [&](int domain) {
    return !partition_ || partition_->counts(domain, world.rank(), world.ranks());
  };
  auto sums = std::make_unique<GasSums>();
  SourceShares shares{generator_, 0};
  for (const auto& [domain, of_cells] : lights) {
    if (!counts(domain)) continue;
    for (const float l : of_cells) {
      const double luminosity = double(l) * light_unit;
      if (!(luminosity > 0)) continue;
      const bool cut = shares.leaves_out(luminosity);
      (cut ? sums->cut : sums->light).add(luminosity);
      ++(cut ? sums->cut_sources : sums->lit);
    }
  }
  comm::add_all(world, sums->light.words());
  shares.sum = sum_ = sums->light.value();
  slots_.end.assign(slots_.cell.size(), 0);
  for (const auto& [domain, of_cells] : lights) {
    if (!counts(domain)) continue;
    const CellNumbers number = mesh_of(domain)->numbers();
    std::size_t run = 0;
    for (std::size_t i = 0; i < of_cells.size(); ++i) {
      const double luminosity = double(of_cells[i]) * light_unit;
      const std::uint64_t slots = shares.slots(luminosity);
      if (slots == 0) continue;
      while (number(i) >= slots_.cell[run]) ++run;
      slots_.end[run] += slots;
      if (!shares.by_source()) continue;
      const double weight = luminosity / double(slots);
      sums->of_photons.add(weight * double(slots)), sums->squares.add(weight * weight * double(slots));
      sums->faintest = std::min(sums->faintest, weight), sums->brightest = std::max(sums->brightest, weight);
      sums->photons += slots;
    }
  }
  comm::add_all(world, std::span(slots_.end));
  for (std::size_t run = 1; run < slots_.end.size(); ++run) slots_.end[run] += slots_.end[run - 1];
  for (ExactSum* sum : {&sums->cut, &sums->of_photons, &sums->squares}) comm::add_all(world, sum->words());
  std::array<std::uint64_t, 3> counted{sums->lit, sums->cut_sources, sums->photons};
  comm::add_all(world, std::span(counted));
  check_sources(shares, "gas", {counted[1], sums->cut.value()}, slots_.end.back(), silent);
  light.sources = counted[0], light.by_source = shares.by_source();
  if (!light.by_source) return light.share(sum_, generator_.photons);
  light.photons = counted[2], light.luminosity = sums->of_photons.value(), light.squares = sums->squares.value();
  light.faintest = std::bit_cast<double>(~world.largest(~std::bit_cast<std::uint64_t>(sums->faintest)));
  light.brightest = std::bit_cast<double>(world.largest(std::bit_cast<std::uint64_t>(sums->brightest)));
}

SourceList GasLists::list_of(int domain, const std::vector<float>& light) const {
  const SourceShares shares{generator_, sum_};
  SourceList list;
  list.set_order(slots_.table);
  list.number = mesh_of(domain)->numbers();
  list.end.reserve(light.size());
  if (shares.by_source()) list.weight.reserve(light.size());
  std::size_t run = ~std::size_t(0);
  std::uint64_t end = 0;
  const auto require_end = [&](std::size_t of, std::uint64_t reached) {
    if (of == ~std::size_t(0) || reached == slots_.end[of]) return;
    throw Error(ExitCode::input, generator_.path + ": changed during the run: run again, or use --no-relief");
  };
  for (std::size_t i = 0; i < light.size(); ++i) {
    const std::uint64_t number = list.number(i);
    if (run == ~std::size_t(0) || number >= slots_.cell[run]) {  // the slots of other domains lie between
      require_end(run, end);
      do ++run;
      while (number >= slots_.cell[run]);
      end = run > 0 ? slots_.end[run - 1] : 0;
    }
    const double luminosity = double(light[i]) * light_unit;
    const std::uint64_t slots = shares.slots(luminosity);
    list.end.push_back(end += slots);
    if (shares.by_source()) list.weight.push_back(slots > 0 ? luminosity / double(slots) : 0);
  }
  require_end(run, end);
  return list;
}

std::shared_ptr<const SourceList> GasLists::list(int domain) const {
  const auto found = held_.find(domain);
  if (found != held_.end()) return found->second;
  return std::make_shared<const SourceList>(list_of(domain, light_of(domain)));
}

}  // namespace thor
