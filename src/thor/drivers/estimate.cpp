#include "thor/drivers/estimate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace thor {
namespace {

constexpr double trial_seconds = 2;

/// Runs the first photons of a configuration for at most some time.
struct Trial {
  Tally tally;
  double seconds;
};
Trial try_photons(const config::Config& config, const Setup& setup, const cpu::Options& options, double most_seconds) {
  config::Config plain = config;
  plain.outputs.clear();
  Trial trial{build_tally(plain, setup), 0};
  Pool pool(0, setup.emitter.count(), 1);
  Control control;
  std::mutex mutex;
  std::condition_variable_any wake;
  const auto start = std::chrono::steady_clock::now();
  const std::jthread timer([&](const std::stop_token& stop) {  // which its end wakes and joins, after an error too
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

std::vector<Derived> quantities_of_grid(const config::CoreSkip& skip, const Setup& setup) {
  const Medium& m = setup.medium;
  const CellStatistics& s = m.cells->statistics();
  std::vector<Derived> list{
      {"wavelength0", setup.line.first().wavelength / constants::angstrom, "Angstrom", "of the line, in vacuum"},
      {"thermal_speed", m.thermal_speed / constants::km, "km s-1", "v_th at 1e4 K, the unit of x"},
      {"cells", double(m.grid.cells()), "", "in all"},
      {"cell_size", m.grid.cell_size / (1e3 * constants::pc), "kpc", "side of a cell"},
      {"redshift", m.grid.redshift, "", "of the snapshot"},
      {"hubble", m.grid.hubble * 1e6 * constants::pc / constants::km, "km s-1 Mpc-1",
       "H(z) along the paths; 0 is none"},
      {"number_density", m.number_density, "cm-3", "of the absorber, the mean"},
      {"column_density", m.column_density, "cm-2", "along z, the mean"},
      {"largest_tau", s.largest_opacity, "", "line-centre optical depth of one cell, the largest"},
      {"largest_a", s.largest_a, "", "Voigt parameter of the coldest cell"},
      {"x_crit", skip.mode == config::CoreSkipMode::fixed ? skip.x_crit : s.largest_x_crit, "",
       "of core skipping, the largest of all cells; 0 is none"},
      {"velocity_jumps", s.jumps, "", "share of faces between cells of tau > 1e-3 where v differs by more than v_th"},
      {"largest_jump", s.largest_jump, "", "of v between two such cells, in units of v_th"},
      {"cells_memory", double(m.grid.cells()) * m.cells->layout().bytes() / 1e9, "GB", "of the cells"},
  };
  for (std::size_t i = 0; i < setup.emitter.light.size(); ++i) {
    const Light& light = setup.emitter.light[i];
    const std::string name = "generator_" + std::to_string(i);
    list.push_back({name, light.luminosity, "erg s-1", fmt::format("of its {} sources", light.sources)});
  }
  list.push_back({"photons", double(setup.emitter.count()), "", "of all generators"});
  list.push_back({"luminosity", setup.emitter.luminosity(), "erg s-1", "of all generators"});
  return list;
}

/// Of a raw photon: eight bytes for its fate and for each field, three times that for a vector.
double row_bytes(const config::Config& config) {
  if (!config.photons) return 0;
  double numbers = 1;
  for (const config::PhotonField f : config.photons->fields) {
    using enum config::PhotonField;
    numbers += f == position || f == position_initial || f == direction ? 3 : 1;
  }
  return 8 * numbers;
}

}  // namespace

std::vector<Derived> derived_quantities(const config::Config& config, const Setup& setup) {
  const Medium& m = setup.medium;
  if (config.dataset.type == config::DatasetType::uniform_grid)
    return quantities_of_grid(config.acceleration.core_skip, setup);
  const bool slab = config.dataset.type == config::DatasetType::slab;
  std::vector<Derived> list{
      {"wavelength0", setup.line.first().wavelength / constants::angstrom, "Angstrom", "of the line, in vacuum"},
      {"thermal_speed", m.thermal_speed / constants::km, "km s-1", "v_th = sqrt(2 k T/m + b_turb^2), the unit of x"},
      {"voigt_parameter", m.a, "", "a"},
      {"cross_section", m.cross_section, "cm2", "sigma_0 at line centre"},
      {"tau0", m.tau0, "", "line-centre optical depth along a radius"},
      {"column_density", m.column_density, "cm-2", "along the same path"},
      {"number_density", m.number_density, "cm-3", "at the outer edge"},
      {"a_tau0", m.a * m.tau0, "", "a tau0; above about 1000 the wings carry the light out"},
  };
  for (const AtomicTransition* t : setup.line.absorbing()) {
    if (t == &setup.line.first()) continue;
    const double sigma = t->population * t->cross_section(t->thermal_speed(m.temperature, m.b_turb));
    list.push_back({"tau0_" + t->name, m.column_density * sigma, "", "that of " + t->name});
  }
  // Maxima of the spectra of static gas, a tau0 >> 1: Neufeld (1990) for a slab, Dijkstra et al. (2006) for a sphere.
  const double peak = (slab ? 1.066 : 0.931) * std::cbrt(m.a * m.tau0);
  list.push_back({"peak_velocity", peak * m.thermal_speed / constants::km, "km s-1",
                  "distance of the peaks from line centre, were the gas at rest and a tau0 large"});
  list.push_back({"x_crit", largest_critical_frequency(config.acceleration.core_skip, m.a * m.tau0, m), "",
                  "of core skipping (local: at the centre); 0 is none"});
  list.push_back({"photons", double(setup.emitter.count()), "", "of all generators"});
  list.push_back({"luminosity", setup.emitter.luminosity(), "erg s-1", "of all generators"});
  return list;
}

ResultSize result_size(const config::Config& config, const Setup& setup) {
  // Attributes and the room that HDF5 leaves between objects; three numbers a bin.
  const double rest = 65536 + 2. * double(config.resolved.size()) + 8192. * double(config.outputs.size()) +
                      1024. * double(config.generators.size() + setup.line.transitions.size()) +
                      24 * config::count_bins(config.outputs);
  return {row_bytes(config) * double(setup.emitter.count()), rest};
}

Estimate estimate(const config::Config& config, const Setup& setup, const cpu::Options& options) {
  const auto photons = double(setup.emitter.count());
  const Trial trial = try_photons(config, setup, options, trial_seconds);
  const auto count = [&](Counter c) { return double(trial.tally[c]); };
  Estimate e;
  e.finished = trial.tally.photons() - trial.tally[Counter::in_flight];
  // Work of all histories over the number of those that ended: without bias even where the long ones are cut.
  const double ended = double(std::max<std::uint64_t>(e.finished, 1));
  e.scatterings = count(Counter::scatterings) / ended;
  e.steps_per_second = count(Counter::steps) / trial.seconds;
  e.seconds = count(Counter::steps) / ended * photons / e.steps_per_second;
  // Every thread has small outputs of its own; photons are written in blocks of 65536.
  const TallyPlan tally = build_tally(config, setup).plan();
  const double row = row_bytes(config);
  e.memory = 2e7 + 8. * double(tally.own) * options.threads + 16. * double(tally.cells) + 65536. * 2 * row;
  if (const auto& cells = setup.medium.cells) {
    e.memory += double(cells->shape().cells()) * (cells->layout().bytes_at_most() + 4);  // the light of each, in turn
  }
  for (const auto& list : setup.emitter.lists) {
    if (!list) continue;
    const auto size = [](const auto& array) { return double(array.size() * sizeof(array[0])); };
    e.memory += size(list->end) + size(list->weight) + size(list->cell) + size(list->offset) + size(list->velocity);
  }
  const ResultSize size = result_size(config, setup);
  e.file_size = size.photons + size.rest;
  return e;
}

}  // namespace thor
