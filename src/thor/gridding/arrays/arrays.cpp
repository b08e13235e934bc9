#include "thor/gridding/arrays/arrays.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/arrays/faults.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/gas/gas_state.hpp"
#include "thor/gridding/grid_file.hpp"
#include "thor/io/array/units.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

[[noreturn]] void refuse(const ArraysOptions& o, const std::string& why) {
  throw Error(ExitCode::input, o.input + ": " + why);
}

Lattice lattice_of(const ArraysOptions& o, const io::Input& input) {
  Lattice lattice;
  std::string first;
  for (const auto& [name, field] : o.fields) {
    if (field.array.empty()) continue;
    const io::ArrayInfo info = input.array(field.array);
    if (!info.numeric || info.shape.size() != 3) {
      refuse(o, fmt::format("{} is not a three-dimensional array of numbers", field.array));
    }
    for (std::size_t a = 0; a < 3; ++a) {
      if (!first.empty() && std::uint64_t(lattice.cells[a]) != info.shape[a]) {
        refuse(o, fmt::format("the shape of {} differs from that of {}", field.array, first));
      }
      lattice.cells[a] = std::int64_t(info.shape[a]);
    }
    first = field.array;
  }
  if (first.empty() || lattice.count() == 0) refuse(o, "--fields: at least one field must be an array with cells");
  lattice.cell = o.size / double(lattice.cells[0]);
  lattice.periodic = o.periodic;
  return lattice;
}

/// The fields of the grid: those given, and those that follow from them.
std::vector<std::string> outputs_of(const ArraysOptions& o) {
  const auto& given = o.fields;
  for (const char* name : {"temperature", "velocity_x", "velocity_y", "velocity_z"}) {
    if (!given.contains(name)) {
      throw Error(ExitCode::usage, fmt::format("--fields: {} is missing; for a constant write {}=0", name, name));
    }
  }
  std::set<std::string> names;
  bool ion = false;
  for (const auto& [name, field] : given) {
    names.insert(name);
    ion = ion || (name.ends_with("_density") && name != "electron_density");
  }
  if (!given.contains("density") && !ion) {
    throw Error(ExitCode::usage, "--fields: neither density nor HI_density (or that of another ion) is given");
  }
  if (o.ionization &&
      (given.contains("HI_density") || given.contains("HII_density") || given.contains("electron_density"))) {
    throw Error(ExitCode::usage,
                "--fields: --ionization gives HI_density, HII_density and electron_density from one model: remove them "
                "from --fields, or omit --ionization");
  }
  if (given.contains("density") && !ion && !o.ionization) {
    throw Error(
        ExitCode::usage,
        "--fields: no HI_density is given: choose --ionization equilibrium --uvb FILE, --ionization table --table "
        "FILE, or --ionization collisional");
  }
  if (given.contains("density") && (o.ionization || names.contains("HI_density"))) {
    names.insert({"HI_density", "HII_density", "electron_density"});
  }
  const bool hydrogen = names.contains("HI_density") && names.contains("HII_density");
  if (hydrogen && names.contains("metallicity")) names.insert("dust");
  if (o.emission && hydrogen && names.contains("electron_density")) {
    names.insert({"emissivity_recombination", "emissivity_collisional"});
  }
  return {names.begin(), names.end()};
}

void read_plane(const ArraysOptions& o, const io::Input& input, const std::map<std::string, double>& factor,
                std::uint64_t x, std::size_t cells, Plane& plane) {
  for (const auto& [name, field] : o.fields) {
    std::vector<float>& values = plane[name];
    values.resize(cells);
    if (field.array.empty()) {
      std::fill(values.begin(), values.end(), float(field.constant * factor.at(name)));
    } else {
      std::vector<double> raw(cells);
      input.read<double>(field.array, x, 1, raw);
      for (std::size_t c = 0; c < cells; ++c) values[c] = float(raw[c] * factor.at(name));
    }
  }
}

void refuse_bad_cells(const ArraysOptions& o, const ArrayFaults& faults) {
  if (o.on_bad_cells != OnBadCells::error || faults.total() == 0) return;
  refuse(o, fmt::format("{} cells have impossible values:\n{}--on-bad-cells drop leaves them empty, --on-bad-cells "
                        "floor replaces negative values and a temperature of zero by floors, and leaves cells "
                        "empty if a value is not a number",
                        faults.total(), faults.describe()));
}

void derive(const ArraysOptions& o, const std::vector<std::string>& outputs, std::size_t cells, Plane& p) {
  const auto make = [&](const char* name, auto&& value) {
    if (o.fields.contains(name) || std::find(outputs.begin(), outputs.end(), name) == outputs.end()) return;
    p[name].resize(cells);
    for (std::size_t c = 0; c < cells; ++c) p[name][c] = float(value(c));
  };
  const double X = default_hydrogen;
  const auto n_H = [&](std::size_t c) { return X * double(p["density"][c]) / hydrogen_mass; };
  const auto at = [&](const char* name, std::size_t c) { return double(p[name][c]); };
  make("HI_density", [&](std::size_t c) {
    return n_H(c) > 0 ? n_H(c) * o.ionization->neutral_fraction(n_H(c), at("temperature", c)) : 0;
  });
  make("HII_density", [&](std::size_t c) { return std::max(0., n_H(c) - at("HI_density", c)); });
  make("electron_density", [&](std::size_t c) { return electrons_of(0, X) * at("HII_density", c); });
  make("dust",
       [&](std::size_t c) { return (at("HI_density", c) + o.f_ion * at("HII_density", c)) * at("metallicity", c); });
  make("emissivity_recombination", [&](std::size_t c) {
    return emission::recombination_emissivity(at("temperature", c), at("electron_density", c), at("HII_density", c));
  });
  make("emissivity_collisional", [&](std::size_t c) {
    return emission::collisional_emissivity(at("temperature", c), at("electron_density", c), at("HI_density", c));
  });
}

CellArray label(const std::string& name) {
  FieldList fields(true, true);
  fields.mass_weighted = true;
  for (const CellArray& array : cell_arrays(fields)) {
    if (array.name == name) return array;
  }
  if (name == "b_turb") return {name, "km s-1", "turbulent broadening, which adds in quadrature to the thermal speed"};
  const bool speed = name.find("_velocity_") != std::string::npos;
  const bool hot = name.ends_with("_temperature");
  return {name, name.starts_with("emissivity_") ? "erg s-1 cm-3" : speed ? "km s-1" : hot ? "K" : "cm-3", name};
}

/// By which the values of each field are multiplied.
std::map<std::string, double> factors_of(const ArraysOptions& o, const io::Input& input) {
  std::map<std::string, double> factor;
  for (const auto& [name, field] : o.fields) {
    const std::string unit = field.unit ? *field.unit : field.array.empty() ? "" : io::units_of(input, field.array);
    factor[name] = field.array.empty() && unit.empty() ? 1 : array_factor(name, unit, o.solar_metallicity);
  }
  return factor;
}

/// Values of all cells by field, and their sums.
struct ArrayValues {
  std::map<std::string, std::vector<float>> grid;
  std::map<std::string, double> sum;
};

ArrayValues read_values(const ArraysOptions& o, const io::Input& input, const Lattice& lattice,
                        const std::map<std::string, double>& factor, const std::vector<std::string>& outputs,
                        ArrayFaults& faults) {
  ArrayValues values;
  for (const auto& name : outputs) values.grid[name].reserve(lattice.count()), values.sum[name] = 0;
  const auto cells = std::size_t(lattice.cells[1] * lattice.cells[2]);
  for (std::uint64_t x = 0; x < std::uint64_t(lattice.cells[0]); ++x) {
    stop_if_interrupted();
    Plane plane;
    read_plane(o, input, factor, x, cells, plane);
    faults.check(plane, x, std::size_t(lattice.cells[2]));
    if (o.on_bad_cells == OnBadCells::error && faults.total() > 0) continue;  // goes on only to count the others
    derive(o, outputs, cells, plane);
    for (const auto& name : outputs) {
      values.grid[name].insert(values.grid[name].end(), plane[name].begin(), plane[name].end());
      for (const float v : plane[name]) values.sum[name] += double(v);
    }
  }
  return values;
}

/// "mass 1 Msun"; "" for a field without a total.
std::string total_text(const std::string& name, double total) {
  if (name == "density") return fmt::format("{:<24} {:.7g} Msun\n", "mass", total / emission::solar_mass);
  if (name == "HI_density") {
    return fmt::format("{:<24} {:.7g} Msun\n", "HI mass", total * hydrogen_mass / emission::solar_mass);
  }
  if (!name.starts_with("emissivity_")) return "";
  return fmt::format("luminosity {:<13} {:.7g} erg/s\n", name.substr(11), total);
}

}  // namespace

std::string grid_arrays(const ArraysOptions& o) {
  const std::vector<std::string> outputs = outputs_of(o);
  const io::Input input(o.input);
  const Lattice lattice = lattice_of(o, input);
  const std::map<std::string, double> factor = factors_of(o, input);
  MemoryPlan memory;
  memory.grid = double(lattice.count()) * double(outputs.size() * sizeof(float));
  memory.per_cell = double(outputs.size() * sizeof(float));
  std::string text =
      fmt::format("cells        {} x {} x {} of {:.6g} kpc, {}\nmemory       {}; {} are free\n", lattice.cells[0],
                  lattice.cells[1], lattice.cells[2], lattice.cell / (1e3 * constants::pc),
                  lattice.periodic ? "periodic" : "open", size_text(memory.total()), size_text(available_memory()));
  if (o.dry_run) return text;
  require(memory, {std::nullopt, available_memory()});
  io::detail::require_apart(o.output, o.input);
  io::ArrayOutput file(o.output, o.overwrite);
  ArrayFaults faults(o.on_bad_cells, o.temperature_floor, o.density_floor);
  const ArrayValues values = read_values(o, input, lattice, factor, outputs, faults);
  refuse_bad_cells(o, faults);
  write_head(file, {lattice, o.redshift, o.hubble});
  file.attribute("/gridding", "cube", std::string_view(o.input));
  file.attribute("/gridding", "on_bad_cells", std::string_view(policy_name(o.on_bad_cells)));
  file.attribute("/gridding", "bad_cells_dropped", std::int64_t(faults.dropped()));
  file.attribute("/gridding", "bad_cells_floored", std::int64_t(faults.floored()));
  if (faults.total() > 0) {
    file.attribute("/gridding", "bad_cells_by_kind", std::string_view(faults.describe()));
    text += fmt::format("bad cells    {}: {} left empty, {} set to a floor\n{}", faults.total(), faults.dropped(),
                        faults.floored(), faults.describe());
  }
  const std::vector<std::uint64_t> shape(lattice.cells.begin(), lattice.cells.end());
  for (const auto& name : outputs) {
    const CellArray array = label(name);
    file.write<float>(name, values.grid.at(name), shape, array.units, array.description, o.compression);
    text += total_text(name, values.sum.at(name) * lattice.volume());
  }
  file.commit(o.overwrite);
  const std::string wrote = describe_file(o.output, lattice, outputs);
  return o.quiet ? wrote : text + wrote;
}

}  // namespace thor::gridding
