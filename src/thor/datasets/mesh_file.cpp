#include "thor/datasets/mesh_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/datasets/bad_cells.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/gas_arrays.hpp"

namespace thor {
namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  throw Error(ExitCode::input, path + ": " + what);
}

double number_of_box(const io::Input& file, const std::string& name, const MeshWords& words,
                     std::optional<double> fallback = {}) {
  const std::string path = file.path().string();
  if (file.text("/", name) || file.numbers("/", name).size() > 1) {
    refuse_file(path, fmt::format("attribute \"{}\" of the root group is no number", name));
  }
  const auto value = file.number("/", name);
  if (!value && fallback) return *fallback;
  if (!value)
    refuse_file(path, fmt::format("no attribute \"{}\" in the root group: not {} ({}){}", name, words.mesh, words.page,
                                  file.number("/", "cell_size") ? ", but a grid: dataset.type: uniform_grid" : ""));
  if (!std::isfinite(*value)) refuse_file(path, fmt::format("attribute \"{}\" is not a number", name));
  return *value;
}

}  // namespace

MeshBox read_box(const io::Input& file, const config::Dataset& dataset, const MeshWords& words) {
  const std::string& path = dataset.path;
  MeshBox box;
  box.size = number_of_box(file, "box_size", words);
  if (!(box.size > 0 && box.size < 1e32)) {
    refuse_file(path, fmt::format("attribute box_size is {}; expected the side of the box, above 0, in cm", box.size));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    box.origin[k] = number_of_box(file, "origin_" + std::string(1, "xyz"[k]), words);
    if (!(std::abs(box.origin[k]) < 1e6 * box.size)) {
      refuse_file(
          path, fmt::format("the origin {:.3g} cm is more than 1e6 sides of the box away: use coordinates relative to "
                            "the gas",
                            box.origin[k]));
    }
  }
  box.periodic = number_of_box(file, "periodic", words, 0) != 0;
  if (dataset.boundary != config::Boundary::file) box.periodic = dataset.boundary == config::Boundary::periodic;
  box.redshift = number_of_box(file, "redshift", words, 0);
  box.hubble = dataset.hubble_flow ? number_of_box(file, "hubble", words, 0) : 0;
  if (!(box.redshift > -1 && box.redshift < 1e4)) {
    refuse_file(path, fmt::format("attribute redshift is {}; expected a value above -1 and below 10000", box.redshift));
  }
  if (!(box.hubble >= 0 && box.hubble * box.size < 3 * constants::c)) {
    refuse_file(path,
                fmt::format("attribute hubble is {}; expected H in 1/s, and a box that light crosses", box.hubble));
  }
  return box;
}

void write_box(io::ArrayOutput& file, const MeshBox& box) {
  for (std::size_t k = 0; k < 3; ++k) file.attribute("/grid", "origin_" + std::string(1, "xyz"[k]), box.origin[k]);
  file.attribute("/grid", "box_size", box.size);
  file.attribute("/grid", "periodic", box.periodic);
  file.attribute("/grid", "redshift", box.redshift);
  file.attribute("/grid", "hubble", box.hubble);
}

std::vector<Derived> derived_of_box(const MeshBox& box) {
  return {{"redshift", box.redshift, "", "redshift of the snapshot"},
          {"hubble", box.hubble * 1e6 * constants::pc / constants::km, "km s-1 Mpc-1",
           "H(z) along the paths; 0 if there is no Hubble flow"}};
}

std::uint64_t count_cells(const io::Input& file, const std::vector<std::string>& arrays, const MeshWords& words) {
  const std::string path = file.path().string();
  const std::vector<std::string> there = file.children("/");
  std::uint64_t count = 0;
  for (const std::string& name : arrays) {
    if (!file.has(name)) {
      const char* const sites = name == "level" && file.has("x") ? ": sites are of dataset.type: voronoi" : "";
      refuse_file(path, fmt::format("no array \"{}\"{} (arrays: {}){}", name, config::suggestion(name, there),
                                    fmt::join(there, ", "), sites));
    }
    const io::ArrayInfo info = file.array(name);
    if (words.whole_numbers && words.is_place(name) && info.type.starts_with("float")) {
      refuse_file(path,
                  fmt::format("array \"{}\" is {}; expected whole numbers: the level of each leaf, and its numbers "
                              "among the leaves of that level, from 0",
                              name, info.type));
    }
    if (!info.numeric || info.shape.size() != 1 || info.shape[0] == 0) {
      refuse_file(path, fmt::format("array \"{}\" is {} with {} dimensions; expected a number for each {}", name,
                                    info.type, info.shape.size(), words.cell));
    }
    if (count == 0) count = info.shape[0];
    if (info.shape[0] != count) {
      refuse_file(path, fmt::format("array \"{}\" has {} numbers and \"{}\" {}: expected one for each {}", name,
                                    info.shape[0], arrays.front(), count, words.cell));
    }
    file.require_whole(name);
  }
  return count;
}

std::uint64_t count_cells(const io::Input& file, const config::Dataset& dataset, const Line& line,
                          const MeshWords& words) {
  std::vector<std::string> needed = {words.whole_numbers ? "level" : "x"};
  for (const std::string& name : gas_arrays(file, dataset, line).all()) needed.push_back(name);
  if (file.has(turbulence_field)) needed.emplace_back(turbulence_field);
  if (dataset.dust) needed.push_back(dataset.dust_field);
  return count_cells(file, needed, words);
}

std::vector<std::string> fields_of(const io::Input& file, std::uint64_t cells, const MeshWords& words) {
  const std::vector<std::uint64_t> one_a_cell{cells};
  std::vector<std::string> fields = arrays_where(file, [&](const auto& info) { return info.shape == one_a_cell; });
  std::erase_if(fields, words.is_place);
  return fields;
}

void require_one_a_cell(const io::Input& file, const std::string& field, std::uint64_t cells, const MeshWords& words) {
  const io::ArrayInfo info = file.array(field);
  if (info.shape.size() != 1 || !info.numeric || info.shape[0] != cells) {
    refuse_file(file.path().string(),
                fmt::format("array \"{}\" has not one number for each {} ({})", field, words.cell, cells));
  }
}

void require_free(const std::string& path, std::uint64_t cells, double bytes, const char* what,
                  const MeshWords& words) {
  const double available = available_memory(1);
  if (bytes <= available) return;
  refuse_file(
      path, fmt::format("{} of {} {} takes {}{}, {} are free: take fewer {}, or a machine with more memory", words.mesh,
                        cells, words.cells, size_text(bytes), what, size_text(available), words.cells));
}

namespace {

std::size_t room_for(const HostMesh& mesh, const CellLayout& layout, const MeshWords& words) {
  const double bytes = double(mesh.cells()) * layout.bytes_at_most(), available = available_memory(1);
  if (bytes > available) {
    throw Error(ExitCode::input,
                fmt::format("{} of {} {} takes {} at {:.0f} bytes a {}, {} are free: {}take "
                            "fewer {}, or a machine with more memory",
                            words.mesh, mesh.cells(), words.cells, size_text(bytes), layout.bytes_at_most(), words.cell,
                            size_text(available), layout.packed ? "" : "set dataset.packed: true, ", words.cells));
  }
  return std::size_t(mesh.cells());
}

}  // namespace

MeshCells::MeshCells(std::shared_ptr<const HostMesh> mesh, const CellLayout& layout, const CellUnits& units,
                     double largest_velocity, const MeshWords& words)
    : CellRecords(room_for(*mesh, layout, words), layout, units, largest_velocity), mesh_(std::move(mesh)) {}

void add_mesh_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options,
                    const MeshWords& words,
                    const std::function<std::shared_ptr<MeshCells>(const CellLayout&, double fastest)>& make) {
  const HostMesh& mesh = *m.mesh;
  const auto read = [&](const std::string& field, const TakeValue& take) {
    mesh.read_field(dataset.path, field, options.threads, take);
  };
  const double fastest = dataset.packed ? std::max(fastest_velocity(dataset, line, read), 1e-30) : 0;
  const std::shared_ptr<MeshCells> cells = make({dataset.packed, dataset.dust.has_value(), false}, fastest);
  BadCells bad(cells->cells());
  const GasSource source{dataset, line, read,
                         [&](const std::string& what, std::int64_t i, double value) { bad.add(what, i, value); }};
  warn_of_other_gas(source);
  fill_gas(source, cells->cells(), options.threads, *cells);
  bad.end(dataset, *cells, [&](std::int64_t cell) {
    const auto centre = mesh.centre(mesh.place(cell));
    const double kpc = m.size / (1e3 * constants::pc);
    return fmt::format("the {} around {:.6g}, {:.6g}, {:.6g} kpc", words.cell, centre[0] * kpc, centre[1] * kpc,
                       centre[2] * kpc);
  });
  cells->survey(options.threads, options.core_skip, m.hubble * m.size / cells->units().reference_speed);
  m.cells = cells, m.dropped = cells->dropped(), m.statistics = cells->statistics();
  say_dropped(dataset, m.dropped);
  m.number_density = m.statistics.mean_density();
  m.column_density = m.number_density * m.size * mesh.sides()[2];
  m.tau0 = m.column_density * m.cross_section;
}

CellPhysics<double> physics_of_cells(const Medium& m, const config::Dataset& dataset, const Line& line,
                                     double dust_depth) {
  const CellPhysics<double> physics = physics_of(m, dataset, line, m.statistics.fastest, dust_depth);
  warn_of_cells(m, physics.stop, 1, dataset, line);
  return physics;
}

}  // namespace thor
