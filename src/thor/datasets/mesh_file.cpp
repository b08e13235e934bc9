#include "thor/datasets/mesh_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <optional>

#include "thor/comm/together.hpp"
#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/datasets/bad_cells.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/gas_arrays.hpp"
#include "thor/datasets/mesh_lengths.hpp"

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

std::size_t room_for(std::int64_t cells, const CellLayout& layout, const MeshWords& words) {
  const double bytes = double(cells) * layout.bytes_at_most(), available = available_memory(1);
  if (bytes > available) {
    throw Error(ExitCode::input,
                fmt::format("{} of {} {} takes {} at {:.0f} bytes a {}, {} are free: {}take "
                            "fewer {}, or a machine with more memory",
                            words.mesh, cells, words.cells, size_text(bytes), layout.bytes_at_most(), words.cell,
                            size_text(available), layout.packed ? "" : "set dataset.packed: true, ", words.cells));
  }
  return std::size_t(cells);
}

/// Reads arrays of a mesh: take(cell, value) with the cell's number among those wanted, of which `here` is below 0 for
/// others.
ReadField reader_of(const HostMesh& mesh, const std::string& path, int threads,
                    const std::function<std::int64_t(std::int64_t)>& here) {
  return [=, &mesh](const std::string& field, const TakeValue& take) {
    mesh.read_field(path, field, threads, [&](std::int64_t cell, double value) {
      if (const std::int64_t i = here(cell); i >= 0) take(i, value);
    });
  };
}

/// Gas for cells; `whole`: their numbers in the mesh.
void fill_cells(CellRecords& cells, const MediumOutline& m, const config::Dataset& dataset, const Line& line,
                const ReadField& read, const std::function<std::int64_t(std::int64_t)>& whole, int threads, bool silent,
                const MeshWords& words) {
  BadCells bad(cells.cells());
  const GasSource source{dataset, line, read,
                         [&](const std::string& what, std::int64_t i, double value) { bad.add(what, i, value); }};
  if (!silent) warn_of_other_gas(source);
  fill_gas(source, cells.cells(), threads, cells);
  bad.end(dataset, cells, [&](std::int64_t cell) {
    const auto centre = m.mesh->centre(m.mesh->place(whole(cell)));
    const double kpc = m.size / (1e3 * constants::pc);
    return fmt::format("the {} around {:.6g}, {:.6g}, {:.6g} kpc", words.cell, centre[0] * kpc, centre[1] * kpc,
                       centre[2] * kpc);
  });
}

/// Reads the cells of a mesh, at the start or later; it has all that this takes.
class MeshReader {
 public:
  MeshReader(const MediumOutline& m, const config::Dataset& dataset, const Line& line, const CellOptions& options,
             const MeshWords& words, const MakeCells& make)
      : m_(m), dataset_(dataset), line_(line), options_(options), words_(words), make_(make) {
    if (!dataset.packed) return;
    fastest_ = std::max(
        fastest_velocity(dataset, line, reader_of(*m_.mesh, dataset_.path, options.threads, std::identity())), 1e-30);
  }

  std::shared_ptr<MeshCells> read(std::shared_ptr<const MeshPart> part, bool silent) const {
    const auto here = [part](std::int64_t cell) { return part ? part->to_part(cell) : cell; };
    auto cells = make_(part, {dataset_.packed, dataset_.dust.has_value(), options_.core_skip},
                       units_of(m_, dataset_, line_), fastest_);
    fill_cells(
        *cells, m_, dataset_, line_, reader_of(*m_.mesh, dataset_.path, options_.threads, here),
        [&](std::int64_t cell) { return cells->to_whole(cell); }, options_.threads, silent, words_);
    return cells;
  }
  /// When they are complete.
  void survey(MeshCells& cells) const {
    cells.survey(options_.threads, options_.core_skip, m_.hubble * m_.size / cells.units().reference_speed);
  }

 private:
  const MediumOutline m_;
  const config::Dataset dataset_;
  const Line line_;
  const CellOptions options_;
  const MeshWords words_;
  const MakeCells make_;
  double fastest_ = 0;
};

/// What kernels see of cells, with the physics of a run.
AnyDataset with_physics(AnyDataset cells, const CellPhysics<double>& physics) {
  std::visit(
      [&]<class D>(D& data) {
        if constexpr (requires { data.whole.it; }) data.physics = physics;
      },
      cells);
  return cells;
}

}  // namespace

MeshCells::MeshCells(std::int64_t whole, std::shared_ptr<const MeshPart> part, const CellLayout& layout,
                     const CellUnits& units, double largest_velocity, const MeshWords& words)
    : CellRecords(room_for(part ? std::int64_t(part->held.size()) : whole, layout, words), layout, units,
                  largest_velocity),
      whole_(whole),
      part_(std::move(part)) {}

void add_mesh_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options,
                    const MeshWords& words, const MakeCells& make) {
  const auto reader = std::make_shared<const MeshReader>(m, dataset, line, options, words, make);
  const auto partition = std::dynamic_pointer_cast<const MeshPartition>(options.partition);
  std::vector<std::shared_ptr<MeshCells>> parts;
  std::vector<int> held{0};
  const auto part_of = [partition](int domain) {
    return partition ? std::shared_ptr<const MeshPart>(partition, &partition->part(domain)) : nullptr;
  };
  if (partition) held = partition->held_by(options.world->rank(), options.world->ranks());
  for (const int domain : held) parts.push_back(reader->read(part_of(domain), domain != held.front()));
  if (options.core_skip) {
    std::vector<const MeshCells*> here;
    for (const auto& part : parts) here.push_back(part.get());
    const auto lengths = mesh_lengths(partition ? options.world : nullptr, here, options.threads);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->set_core_scale(lengths[i].at_face, options.threads, 0);
  }
  for (const auto& part : parts) reader->survey(*part);
  m.cells = parts.front();
  if (partition) {
    CellStatistics own;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (partition->counts(held[i], options.world->rank(), options.world->ranks())) own.add(parts[i]->statistics());
    }
    for (const CellStatistics& statistics : comm::of_all(*options.world, own)) m.statistics.add(statistics);
  } else {
    m.statistics = m.cells->statistics(), m.dropped = m.cells->dropped();
    say_dropped(dataset, m.dropped);
  }
  m.number_density = m.statistics.mean_density();
  m.column_density = m.number_density * m.size * m.mesh->sides()[2];
  m.tau0 = m.column_density * m.cross_section;
  const CellPhysics<double> physics = physics_of(m, dataset, line, m.statistics.fastest, options.dust_depth);
  warn_of_cells(m, physics.stop, 1, dataset, line);
  if (!partition) {
    m.dataset = with_physics(parts.front()->dataset(), physics);
    return;
  }
  auto divided = std::make_shared<DividedGas>(DividedGas{options.partition, {}, {}});
  const auto gas_of = [physics](int domain, const std::shared_ptr<MeshCells>& cells) {
    return GasPart{domain, cells, with_physics(cells->dataset(), physics)};
  };
  for (std::size_t i = 0; i < parts.size(); ++i) divided->parts.push_back(gas_of(held[i], parts[i]));
  divided->read = [=, stamp = *m.stamp, threads = options.threads](int domain, const std::vector<float>& lengths) {
    const auto cells = reader->read(part_of(domain), true);
    if (!lengths.empty()) cells->set_core_scale(lengths, threads, 0);
    reader->survey(*cells);
    GasPart part = gas_of(domain, cells);
    stamp.require_same();
    return part;
  };
  std::visit(
      [&]<class D>(D& whole) {
        if constexpr (requires { whole.whole.it; }) {
          whole.gas = parts.front()->records(), whole.physics = physics;
          whole.gas.numbers = {blank_cell, 0}, whole.gas.stride = 0;
        }
      },
      m.dataset);
  m.divided = std::move(divided);
}

std::vector<std::int64_t> find_dropped_of_mesh(const MediumOutline& m, const config::Dataset& dataset, const Line& line,
                                               const comm::World& world, int threads, const MeshWords& words) {
  // A range of cells for each rank.
  class Range : public CellRecords {
   public:
    Range(std::int64_t count, const CellLayout& layout, const CellUnits& units, double fastest)
        : CellRecords(std::size_t(count), layout, units, fastest), count_(count) {}
    std::int64_t cells() const override { return count_; }

   private:
    std::int64_t record(std::int64_t cell) const override { return cell; }
    std::int64_t count_;
  };
  const std::int64_t all = m.mesh->cells();
  const std::int64_t first = all * world.rank() / world.ranks(), end = all * (world.rank() + 1) / world.ranks();
  Range cells(end - first, {false, dataset.dust.has_value(), false}, units_of(m, dataset, line), 0);
  const auto here = [=](std::int64_t cell) { return cell < end ? cell - first : -1; };
  fill_cells(
      cells, m, dataset, line, reader_of(*m.mesh, dataset.path, threads, here),
      [=](std::int64_t cell) { return first + cell; }, threads, true, words);
  std::vector<std::int64_t> dropped = cells.dropped();
  for (std::int64_t& cell : dropped) cell += first;
  return dropped;
}

}  // namespace thor
