#include "thor/gridding/grid_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/core/version.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/io/grid_format.hpp"

namespace thor::gridding {
namespace {

std::string as_key(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

}  // namespace

void write_head(io::ArrayOutput& file, const GridFileInfo& info) {
  const Lattice& l = info.lattice;
  file.add_checksums();
  file.attribute("/", "format", std::string_view("thor grid"));
  file.attribute("/", "format_version", std::int64_t(io::grid_format_version));
  file.attribute("/", "thor_version", std::string_view(version));
  file.attribute("/", "git_commit", std::string_view(git_commit));
  file.attribute("/", "cell_size", l.cell);
  file.attribute("/", "origin_x", l.lower(0));
  file.attribute("/", "origin_y", l.lower(1));
  file.attribute("/", "origin_z", l.lower(2));
  file.attribute("/", "periodic", l.periodic);
  file.attribute("/", "redshift", info.redshift);
  file.attribute("/", "hubble", info.hubble);
}

std::string describe_file(const std::string& path, const Lattice& lattice, const std::vector<std::string>& arrays) {
  return fmt::format("wrote        {}: {} x {} x {} cells with {}\n", path, lattice.cells[0], lattice.cells[1],
                     lattice.cells[2], fmt::join(arrays, ", "));
}

void write_provenance(io::ArrayOutput& file, const Provenance& p) {
  const auto three = [](const Vector& v) { return std::span<const double>(v); };
  const std::string how = "/gridding";
  file.attribute(how, "snapshot", std::string_view(p.options.snapshot));
  file.attribute(how, "choices", std::string_view(joined(describe_gas(p.snapshot, p.options, p.gas))));
  file.attribute(how, "centre", three(p.region.frame.centre));
  file.attribute(how, "bulk_velocity", three(p.region.frame.velocity));
  std::vector<double> rotation;
  for (const Vector& row : p.region.frame.rotation) rotation.insert(rotation.end(), row.begin(), row.end());
  file.attribute(how, "rotation", std::span<const double>(rotation));
  file.attribute(how, "solar_metallicity", p.options.solar_metallicity);
  file.attribute(how, "f_ion", p.options.f_ion);
  file.attribute(how, "gas_elements", std::int64_t(p.totals.elements));
  file.attribute(how, "star_forming_elements", std::int64_t(p.totals.star_forming));
  file.attribute(how, "star_forming_mass_share", p.totals.star_forming_mass_share());
  file.attribute(how, "star_forming_HI_share", p.totals.star_forming_HI_share());
  file.attribute(how, "star_forming_gas", std::string_view(describe_star_forming(p.gas.model)));
  if (p.options.eos_temperature) file.attribute(how, "eos_temperature", *p.options.eos_temperature);
  file.attribute(how, "eos_emission", p.options.eos_emission);
  file.attribute(how, "warnings", std::string_view(joined(p.warnings)));
  file.attribute(how, "empty_cells", std::int64_t(p.empty_cells));
  file.attribute(how, "empty_temperature", empty_temperature);
  file.attribute(how, "on_bad_cells", std::string_view(policy_name(p.options.on_bad_cells)));
  file.attribute(how, "bad_cells", std::int64_t(p.defects.total()));
  file.attribute(how, "bad_cells_dropped", std::int64_t(p.defects.dropped));
  file.attribute(how, "bad_cells_floored", std::int64_t(p.defects.floored));
  file.attribute(how, "mass_dropped", p.defects.mass_dropped);
  if (p.defects.total() > 0) file.attribute(how, "bad_cells_by_kind", std::string_view(p.defects.describe()));
  for (const BudgetLine& line : p.budget.lines) {
    const std::string object = "/gridding/totals/" + as_key(line.name);
    file.attribute(object, "units", std::string_view(line.units));
    file.attribute(object, "input", line.input);
    file.attribute(object, "gridded", line.gridded);
    file.attribute(object, "cut_off", line.cut);
    file.attribute(object, "difference", line.difference);
  }
}

}  // namespace thor::gridding
