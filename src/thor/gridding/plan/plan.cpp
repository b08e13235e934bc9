#include "thor/gridding/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/core/error.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/deposit/nearest.hpp"
#include "thor/gridding/plan/survey.hpp"

namespace thor::gridding {
namespace {

constexpr const char* ionization_choices =
    "choose one: --ionization equilibrium --uvb FILE (photoionisation equilibrium with a UV background, a TREECOOL "
    "file; "
    "with self-shielding unless --no-self-shielding), --ionization table --table FILE (log n_HI/n_H over log n_H, log "
    "T "
    "and redshift, HDF5), --ionization collisional (collisional ionisation alone)";

[[noreturn]] void missing(const GridOptions& options, const std::string& what) {
  throw Error(ExitCode::input, options.snapshot + ": " + what);
}

void require_fields(const io::Snapshot& snapshot, const GridOptions& options) {
  std::vector<std::string> absent;
  for (const char* name : {"position", "mass", "density", "velocity"}) {
    if (!snapshot.has(name)) absent.emplace_back(name);
  }
  if (!snapshot.has("internal_energy") && !snapshot.has("temperature")) {
    absent.emplace_back("internal energy (or temperature)");
  }
  if (snapshot.gas_count() == 0) missing(options, "there is no gas in the snapshot");
  if (absent.empty()) return;
  missing(options, fmt::format("the gas has no {}: it cannot be gridded", fmt::join(absent, ", no ")));
}

}  // namespace

std::optional<emission::Ionization> choose_ionization(const GridOptions& options, double redshift) {
  const auto file = [](const std::string& path, const char* option) {
    if (path.empty()) throw Error(ExitCode::usage, fmt::format("--ionization: the file is missing, give {}", option));
    return path;
  };
  switch (options.neutral) {
    case NeutralFraction::equilibrium:
      return emission::Ionization::equilibrium(file(options.uv_background, "--uvb FILE"), redshift,
                                               options.self_shielding);
    case NeutralFraction::table:
      return emission::Ionization::table(file(options.ionization_table, "--table FILE"), redshift);
    case NeutralFraction::collisional:
      return emission::Ionization::collisional();
    default:
      return std::nullopt;
  }
}

GasOptions plan_gas(const io::Snapshot& snapshot, const GridOptions& options) {
  require_fields(snapshot, options);
  GasOptions gas;
  gas.model.ionization = choose_ionization(options, snapshot.header().redshift);
  if (!gas.model.ionization && !snapshot.has("neutral")) {
    throw Error(ExitCode::usage,
                fmt::format("{}: the gas has no neutral fraction; {}", options.snapshot, ionization_choices));
  }
  if (options.eos_asked && !snapshot.has("sfr")) {
    missing(
        options,
        "--eos-temperature, --eos-emission: the gas has no star-formation rate that would identify star-forming gas");
  }
  gas.model.eos_temperature = options.eos_temperature;
  gas.model.eos_emission = options.eos_emission;
  gas.model.metallicity = options.metallicity;
  gas.model.solar_metallicity = options.solar_metallicity;
  gas.model.f_ion = options.f_ion;
  if (options.metallicity && snapshot.has("metallicity")) {
    throw Error(
        ExitCode::usage,
        fmt::format("--metallicity: the gas of {} has its own metallicity; leave the option out", options.snapshot));
  }
  const bool metals = snapshot.has("metallicity") || options.metallicity;
  if (!options.ions.empty() || !options.lines.empty()) {
    if (options.ion_table.empty()) {
      throw Error(ExitCode::usage, "--ions and --emissivity: the table is missing, give --ion-table FILE");
    }
    if (!metals) missing(options, "--ions and --emissivity: the gas has no metallicity; set one with --metallicity");
    gas.model.table.emplace(options.ion_table, snapshot.header().redshift);
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& ion : options.ions) {
      if (!has(gas.model.table->ions(), ion)) gas.model.table->fraction(ion, 1, 1e4, 1);  // its error lists the ions
    }
    for (const auto& line : options.lines) {
      if (!has(gas.model.table->lines(), line)) gas.model.table->emissivity(line, 1, 1e4, 1);
    }
  }
  gas.fields = FieldList(metals, options.emission, options.ions, options.lines);
  gas.fields.mass_weighted = options.mass_weighted;
  gas.on_bad_cells = options.on_bad_cells;
  gas.temperature_floor = options.temperature_floor;
  gas.density_floor = options.density_floor;
  gas.smoothing = options.kernel_size == KernelSize::smoothing ||
                  (options.kernel_size == KernelSize::automatic && snapshot.has("smoothing_length"));
  if (gas.smoothing && !snapshot.has("smoothing_length")) {
    missing(options, "--kernel-size smoothing: the gas has no smoothing length; use --kernel-size volume");
  }
  return gas;
}

std::vector<std::string> describe_gas(const io::Snapshot& snapshot, const GridOptions& options, const GasOptions& gas) {
  std::vector<std::string> out = snapshot.header().notes;
  const GasModel& model = gas.model;
  if (options.method == Method::nearest) {
    out.emplace_back("cells: values of the nearest gas element; mass is not conserved");
  } else {
    out.emplace_back(gas.smoothing ? "kernel: cubic spline that ends at the smoothing length of the snapshot"
                                   : "kernel: cubic spline that ends at 2.5 (3 V/4 pi)^(1/3), V = mass/density");
  }
  out.push_back(snapshot.has("temperature") ? "temperature: from the snapshot"
                                            : "temperature: from internal energy and mean molecular weight");
  out.push_back("neutral fraction: " + (model.ionization ? model.ionization->describe() : "from the snapshot"));
  out.push_back(snapshot.has("electrons") && !model.ionization
                    ? "electrons: from the snapshot"
                    : "electrons: from ionised hydrogen, and one from each helium atom with it");
  if (snapshot.has("sfr")) out.push_back("star-forming gas: " + describe_star_forming(model));
  if (!snapshot.has("hydrogen")) out.push_back(fmt::format("hydrogen: {} of the mass", default_hydrogen));
  if (gas.fields.metals < 0) {
    out.emplace_back("metallicity: none in the snapshot; neither metals nor dust are written (--metallicity sets one)");
  } else {
    out.push_back(
        fmt::format("metallicity: {}; solar is {}",
                    snapshot.has("metallicity") ? "from the snapshot" : fmt::format("{}", *options.metallicity),
                    options.solar_metallicity));
  }
  if (model.table) out.push_back("ions: " + model.table->describe());
  return out;
}

std::string describe_star_forming(const GasModel& model) {
  return (model.eos_temperature
              ? fmt::format("treated as gas at {:.6g} K with the ionisation at that temperature ({})",
                            *model.eos_temperature, model.eos_ionization().describe())
              : "temperature and ionisation from the snapshot, which describe a model of unresolved gas") +
         (model.eos_emission ? "; it emits" : "; it does not emit");
}

double file_size(const Lattice& lattice, const FieldList& fields) {
  const auto& n = lattice.cells;
  return double(n[0]) * double(n[1]) * double(n[2]) * double(cell_arrays(fields).size() * sizeof(float));
}

MemoryPlan plan_memory(const io::Snapshot& snapshot, const GridOptions& options, const Lattice& lattice,
                       const FieldList& fields, const MemoryRoom& room) {
  MemoryPlan plan;
  // In floating point, since the number of cells may overflow any integer.
  const double cells = double(lattice.cells[0]) * double(lattice.cells[1]) * double(lattice.cells[2]);
  plan.grid = cells * fields.count * double(options.single ? sizeof(float) : sizeof(double));
  plan.field = cells * sizeof(float);
  plan.per_cell = (plan.grid + plan.field) / cells;
  plan.all_layers = plan.layers = lattice.cells[0];
  const double read = 18 * sizeof(double), made = double(6 + fields.count) * sizeof(double) + 36;
  plan.block = double(std::min<std::uint64_t>(block_size, snapshot.gas_count())) * (read + made);
  if (options.method == Method::nearest) {
    plan.elements = double(snapshot.gas_count()) * double(NearestSampler::bytes(fields.count));
  }
  return in_slabs(plan, room);
}

std::string describe_plan(const GridRegion& region, const MemoryPlan& memory, const FieldList& fields,
                          const MemoryRoom& room) {
  const Lattice& l = region.lattice;
  const double kpc = 1e3 * constants::pc;
  std::string names;
  for (const CellArray& array : cell_arrays(fields)) names += (names.empty() ? "" : " ") + array.name;
  std::string slabs;
  if (memory.slabs() > 1) {
    slabs = fmt::format("slabs        {} of {} layers along x, in {} over the snapshot{}\n", memory.slabs(),
                        memory.layers, memory.passes() == 1 ? "one pass" : fmt::format("{} passes", memory.passes()),
                        memory.ranks > 1 ? fmt::format(" by each of {} ranks", memory.ranks) : "");
  }
  return fmt::format(
      "cells        {} x {} x {} of {:.6g} kpc, {}\n"
      "centre       [{:.6g}, {:.6g}, {:.6g}] kpc of the box\n"
      "fields       {}\n"
      "memory       {} ({:.3g} bytes per cell, {} for gas elements); {} are free\n"
      "{}"
      "file         {}\n",
      l.cells[0], l.cells[1], l.cells[2], l.cell / kpc, l.periodic ? "periodic" : "open", region.frame.centre[0] / kpc,
      region.frame.centre[1] / kpc, region.frame.centre[2] / kpc, names, size_text(memory.total()), memory.per_cell,
      size_text(memory.block + memory.elements), size_text(room.available), slabs, size_text(file_size(l, fields)));
}

}  // namespace thor::gridding
