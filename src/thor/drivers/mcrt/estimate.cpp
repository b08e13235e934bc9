#include "thor/drivers/mcrt/estimate.hpp"

#include <fmt/format.h>

#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/mcrt/earlier.hpp"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace thor {
namespace {

constexpr double trial_seconds = 2;

/// A run of the first photons of a configuration, limited in time.
struct Trial {
  Tally tally;
  double seconds;
};
Trial try_photons(const config::Config& config, const Setup& setup, const cpu::Options& options, double most_seconds) {
  config::Config plain = config;
  plain.outputs.clear();
  std::erase_if(plain.observers, [&](const auto& o) { return !plain.sends_rays_to(o.name); });
  Trial trial{build_tally(plain, setup), 0};
  Pool pool(0, setup.emitter.count(), 1);
  Control control;
  std::mutex mutex;
  std::condition_variable_any wake;
  const auto start = std::chrono::steady_clock::now();
  const std::jthread timer([&](const std::stop_token& stop) {  // its destructor stops and joins it, also after an error
    std::unique_lock lock(mutex);
    if (!wake.wait_for(lock, stop, std::chrono::duration<double>(most_seconds), [&] { return false; }) &&
        !stop.stop_requested()) {
      pool.close();
      control.abort = true;
    }
  });
  run_problem(plain, setup, pool, {nullptr, {}, options}, control, trial.tally, {});
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

std::vector<Derived> quantities_of_cells(const config::CoreSkip& skip, const Setup& setup) {
  const Medium& m = setup.medium;
  const CellStatistics& s = m.statistics;
  std::vector<Derived> list{
      {"wavelength0", setup.line.first().wavelength / constants::angstrom, "Angstrom",
       "wavelength of the line in vacuum"},
      {"thermal_speed", m.thermal_speed / constants::km, "km s-1", "v_th at 1e4 K, the unit of x"},
  };
  for (const Derived& d : m.mesh->derived()) list.push_back(d);
  list.insert(
      list.end(),
      {
          {"number_density", m.number_density, "cm-3", "mean number density of the absorber"},
          {"column_density", m.column_density, "cm-2", "mean column density along z"},
          {"largest_tau", s.largest_opacity, "", "largest line-centre optical depth of a cell"},
          {"largest_a", s.largest_a, "", "Voigt parameter of the coldest cell"},
          {"x_crit", skip.mode == config::CoreSkipMode::fixed ? skip.x_crit : s.largest_x_crit, "",
           "largest x_crit of core skipping in all cells; 0 if nothing is skipped"},
          {"velocity_jumps", s.share_of_jumps(), "",
           "share of faces between cells with tau > 1e-3 across which v changes by more than v_th"},
          {"largest_jump", s.largest_jump, "", "largest change of v across such a face, in units of v_th"},
          {"cells_memory", double(m.mesh->cells()) * m.cells->layout().bytes() / 1e9, "GB", "memory of the cells"},
      });
  for (std::size_t i = 0; i < setup.emitter.light.size(); ++i) {
    const Light& light = setup.emitter.light[i];
    const std::string name = "generator_" + std::to_string(i);
    list.push_back({name, light.luminosity, "erg s-1", fmt::format("luminosity of its {} sources", light.sources)});
  }
  list.push_back({"photons", double(setup.emitter.count()), "", "total of all generators"});
  list.push_back({"luminosity", setup.emitter.luminosity(), "erg s-1", "total of all generators"});
  return list;
}

/// Bytes of a raw photon: eight for its fate and for each field, three times that for a vector.
double row_bytes(const config::Config& config) {
  if (!config.photons) return 0;
  double numbers = 1;
  for (const config::PhotonField f : config.photons->fields) {
    using enum config::PhotonField;
    numbers += f == position || f == position_initial || f == direction ? 3 : 1;
  }
  return 8 * numbers;
}

constexpr double peel_row_bytes = 6 * 8;  ///< id, light, velocity and position

}  // namespace

std::vector<Derived> derived_quantities(const config::Config& config, const Setup& setup) {
  const Medium& m = setup.medium;
  const DatasetType& type = dataset_type(config.dataset.type);
  if (!type.model) return quantities_of_cells(config.acceleration.core_skip, setup);
  std::vector<Derived> list{
      {"wavelength0", setup.line.first().wavelength / constants::angstrom, "Angstrom",
       "wavelength of the line in vacuum"},
      {"thermal_speed", m.thermal_speed / constants::km, "km s-1", "v_th = sqrt(2 k T/m + b_turb^2), the unit of x"},
      {"voigt_parameter", m.a, "", "Voigt parameter a"},
      {"cross_section", m.cross_section, "cm2", "cross section sigma_0 at line centre"},
      {"tau0", m.tau0, "", "line-centre optical depth along a radius"},
      {"column_density", m.column_density, "cm-2", "column density along a radius"},
      {"number_density", m.number_density, "cm-3", "number density at the outer edge"},
      {"a_tau0", m.a * m.tau0, "", "a tau0; above about 1000 light escapes in the wings"},
  };
  for (const AtomicTransition* t : setup.line.absorbing()) {
    if (t == &setup.line.first()) continue;
    const double sigma = t->population * t->cross_section(t->thermal_speed(m.temperature, m.b_turb));
    list.push_back({"tau0_" + t->name, m.column_density * sigma, "", "tau0 of " + t->name});
  }
  if (type.peak > 0) {
    const double peak = type.peak * std::cbrt(m.a * m.tau0);
    list.push_back({"peak_velocity", peak * m.thermal_speed / constants::km, "km s-1",
                    "offset of the peaks from line centre, for gas at rest and a tau0 >> 1"});
  }
  list.push_back({"x_crit", largest_critical_frequency(config.acceleration.core_skip, m.a * m.tau0, m), "",
                  "x_crit of core skipping (local: at the centre); 0 if nothing is skipped"});
  list.push_back({"photons", double(setup.emitter.count()), "", "total of all generators"});
  list.push_back({"luminosity", setup.emitter.luminosity(), "erg s-1", "total of all generators"});
  return list;
}

ResultSize result_size(const config::Config& config, const Setup& setup) {
  // Attributes and the room that HDF5 leaves between objects; bins.
  const double rest = 65536 + 2. * double(config.resolved.size()) + 8192. * double(config.outputs.size()) +
                      1024. * double(config.generators.size() + setup.line.transitions.size()) +
                      config::bytes_in_file(config.outputs) + tally_size(config);
  return {row_bytes(config) * double(setup.emitter.count()), rest};
}

Estimate estimate(const config::Config& config, const Setup& setup, const cpu::Options& options) {
  const auto photons = double(setup.emitter.count());
  const Trial trial = try_photons(config, setup, options, trial_seconds);
  const auto count = [&](Counter c) { return double(trial.tally[c]); };
  Estimate e;
  e.finished = trial.tally.photons() - trial.tally[Counter::in_flight];
  // The work of all histories divided by the number that ended is unbiased even though the long ones are cut.
  const double ended = double(std::max<std::uint64_t>(e.finished, 1));
  e.scatterings = count(Counter::scatterings) / ended;
  e.steps_per_second = count(Counter::steps) / trial.seconds;
  e.seconds = count(Counter::steps) / ended * photons / e.steps_per_second;
  // Every thread has small outputs of its own; photons are written in blocks of 65536.
  const TallyPlan tally = build_tally(config, setup).plan();
  const double row = row_bytes(config);
  e.memory = 6e7 + 8. * double(tally.own) * options.threads +
             config::memory_of(config.outputs, config.until.has_value()) + 65536. * 2 * row;
  if (const auto& cells = setup.medium.cells) {
    e.memory += setup.medium.mesh->bytes();
    e.memory += double(cells->cells()) * (cells->layout().bytes_at_most() + 4);  // plus a float for the light of each
  }
  for (const auto& list : setup.emitter.lists) {
    if (!list) continue;
    const auto size = [](const auto& array) { return double(array.size() * sizeof(array[0])); };
    e.memory += size(list->end) + size(list->weight) + size(list->place) + size(list->offset) + size(list->velocity);
  }
  const ResultSize size = result_size(config, setup);
  const double rays = (count(Counter::rays) - count(Counter::rays_cut)) / ended * photons;
  e.file_size = size.photons + size.rest + (config.peeled ? peel_row_bytes * rays : 0);
  return e;
}

}  // namespace thor
