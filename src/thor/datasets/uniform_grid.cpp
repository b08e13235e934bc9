#include "thor/datasets/uniform_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <tuple>

#include "thor/comm/together.hpp"
#include "thor/config/section.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/equal_cells.hpp"
#include "thor/datasets/grid_file.hpp"
#include "thor/datasets/grid_partition.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {
namespace config {
namespace {

void add_grid_keys(Section<Dataset>& s) {
  const Condition grid{"type", {"uniform_grid", "octree", "voronoi"}}, uniform{"type", {"uniform_grid"}};
  s.text("path", &Dataset::path, "a file name", [](const std::string& path) { return !path.empty(); },
         {.meaning = "file of the grid ([grids](formats.md#grids)) or [mesh](voronoi.md); its path is relative to the "
                     "configuration",
          .example = "galaxy_grid.h5",
          .when = grid});
  s.text("density_field", &Dataset::density_field, "the name of an array", [](const std::string&) { return true; },
         {.meaning =
              "array with the number density of the absorber; by default that of the line's ion, such as `HI_density`",
          .fallback = "",
          .when = grid});
  s.text("dust_field", &Dataset::dust_field, "the name of an array",
         [](const std::string& name) { return !name.empty(); },
         {.meaning = "array with the number density of dust absorbers, which `dust.cross_section` multiplies",
          .fallback = "dust",
          .when = grid});
  s.choice("boundary", &Dataset::boundary,
           std::vector<Option<Boundary>>{
               {"file", Boundary::file, "as given by the file"},
               {"open", Boundary::open, "photons leave at the faces"},
               {"periodic", Boundary::periodic, "photons that leave enter again on the opposite side"}},
           {.meaning = "boundary of the box", .fallback = "file", .when = grid});
  s.boolean(
      "hubble_flow", &Dataset::hubble_flow,
      {.meaning = "redshift along the path by the Hubble rate H(z) of the file", .fallback = "true", .when = grid});
  s.optional_quantity(
      "stop_shift", &Dataset::stop_shift, Dimension::wavelength, positive,
      {.meaning =
           "wavelength shift from the fastest gas beyond which photons stop (with dust: fly on); required if periodic",
       .example = "5 Angstrom",
       .when = grid});
  s.boolean("packed", &Dataset::packed,
            {.meaning = "12 bytes per cell instead of 20 to 24, with errors of 0.1 % ([grids](formats.md#grids))",
             .fallback = "false",
             .when = grid});
  s.integer(
      "tiles", [](Dataset& d) -> double& { return d.tiles; }, 1, 1024,
      {.meaning = "number of copies of the grid and its sources along each axis", .fallback = "1", .when = uniform});
  s.choice(
      "bad_cells", &Dataset::bad_cells,
      std::vector<Option<BadCells>>{{"error", BadCells::error, "the run does not start"},
                                    {"drop", BadCells::drop, "bad cells become empty, and their number is reported"}},
      {.meaning = "treatment of cells with NaN, negative densities or temperatures below 0.1 K",
       .fallback = "error",
       .when = grid});
}

}  // namespace
}  // namespace config

namespace {

MediumOutline outline_grid(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  MediumOutline m{};
  set_grid(m, read_grid_shape(dataset, line));
  outline_cells(m, dataset, line, refuse);
  m.dataset = without_gas(m.grid);
  return m;
}

/// Equal cells that a jump may cross in thick gas; 1: none.
std::int64_t joined_cells(const Medium& m) {
  return m.cells->layout().joined ? std::min<std::int64_t>(2 * around_base - 1, std::ranges::max(m.grid.count)) : 1;
}

/// Collective: the largest component of a velocity in the boxes of all ranks, which cover the grid; 0 where it does not
/// matter.
double fastest_of_all(const comm::World& world, const config::Dataset& dataset, const Line& line, const GridShape& grid,
                      std::span<const CellBox> boxes, int threads) {
  if (!dataset.packed) return 0;
  double fastest = 1e-30;  // 0: not known
  for (const CellBox& box : boxes) fastest = std::max(fastest, read_fastest(dataset, line, grid, box, threads));
  return std::bit_cast<double>(world.largest(std::bit_cast<std::uint64_t>(fastest)));
}

/// Collective: what all ranks of a machine are about to hold has to fit, before any of them begins.
void require_memory_of_all(const comm::World& world, const GridShape& grid, const CellLayout& layout,
                           const GridPartition* partition) {
  auto cells = double(grid.cells());
  if (partition) {
    cells = 0;
    for (const int domain : partition->held_by(world.rank(), world.ranks())) {
      cells += double(partition->frame(domain).box.cells());
    }
  }
  const auto most = double(world.largest(std::uint64_t(cells)));
  require_memory(grid, most, layout, world.ranks_on_node());
  world.largest(0);  // all have looked
}

/// Reads domains of a grid, at the start or later; it has all that this takes.
class PartReader {
 public:
  PartReader(const Medium& m, const config::Dataset& dataset, const Line& line, const CellUnits& units,
             const CellOptions& options, const std::vector<int>& held)
      : outline_(m),
        dataset_(dataset),
        line_(line),
        units_(units),
        options_(options),
        partition_(dynamic_cast<const GridPartition&>(*options.partition)),
        first_(held.front()) {
    std::vector<CellBox> boxes;
    for (const int domain : held) boxes.push_back(partition_.domains().box(domain));
    fastest_ = fastest_of_all(*options.world, dataset_, line_, m.grid, boxes, options.threads);
  }

  std::shared_ptr<Cells> read(int domain) const {
    return cells_of(partition_.frame(domain).box, options_.core_skip, domain != first_);
  }
  /// Equal neighbours in a part are found with the cells around it.
  void join(int domain, Cells& cells) const {
    const CellBox padded = partition_.frame(domain).box, box = partition_.domains().grown(padded, equal_cells_reach);
    const auto known = cells_of(box, false, true);
    cells.join({*known, box, outline_.grid.count}, padded, options_.threads);
  }
  GasPart part_of(int domain, const std::shared_ptr<const Cells>& cells, double fastest_gas) const {
    const auto& whole = std::get<UniformGrid<double>>(outline_.dataset);
    const PartFrame& frame = partition_.frame(domain);
    UniformGrid<double> part = cells->dataset();
    part.physics = physics_of(outline_, dataset_, line_, fastest_gas, options_.dust_depth);
    part.repeats = whole.periodic;
    if (!part.periodic) part.borders = frame.borders();
    for (std::size_t k = 0; k < 3; ++k) {
      part.whole[k] = whole.shape[k], part.corner[k] = int(frame.box.first[k]), part.zero[k] = whole.zero[k];
    }
    return {domain, cells, part};
  }

 private:
  std::shared_ptr<Cells> cells_of(const CellBox& box, bool core_skip, bool silent) const {
    return read_cells(dataset_, line_, outline_.grid, units_, {box, core_skip, fastest_, options_.threads, silent});
  }

  const MediumOutline outline_;
  const config::Dataset dataset_;
  const Line line_;
  const CellUnits units_;
  const CellOptions options_;
  const GridPartition partition_;
  int first_;  ///< domain of this rank, of which warnings are said
  double fastest_;
};

/// Collective: what the cells of all ranks are, of which each counts those that it holds first.
CellStatistics survey_parts(const CellOptions& options, const GridPartition& partition, const std::vector<int>& held,
                            const std::vector<std::shared_ptr<Cells>>& parts) {
  CellStatistics own;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!partition.counts(held[i], options.world->rank(), options.world->ranks())) continue;
    CellBox counted = partition.domains().box(held[i]);
    const CellIndex first = partition.frame(held[i]).box.first;
    for (std::size_t k = 0; k < 3; ++k) counted.first[k] -= first[k];
    parts[i]->survey(options.threads, counted);
    own.add(parts[i]->statistics());
  }
  CellStatistics all;
  for (const CellStatistics& statistics : comm::of_all(*options.world, own)) all.add(statistics);
  return all;
}

/// The domains of this rank.
void add_parts(Medium& m, const config::Dataset& dataset, const Line& line, const CellUnits& units,
               const CellOptions& options) {
  const comm::World& world = *options.world;
  const auto& partition = dynamic_cast<const GridPartition&>(*options.partition);
  const std::vector<int> held = partition.held_by(world.rank(), world.ranks());
  const auto reader = std::make_shared<const PartReader>(m, dataset, line, units, options, held);
  std::vector<std::shared_ptr<Cells>> parts;
  std::vector<HeldCells> held_cells;
  for (const int domain : held) {
    parts.push_back(reader->read(domain));
    held_cells.push_back({domain, parts.back().get()});
  }
  // Each face lies in some part or its margin.
  const bool joins = options.join && world.largest(std::ranges::any_of(parts, [&](const auto& cells) {
    return has_equal_cells(*cells, options.threads);
  })) > 0;
  for (std::size_t i = 0; joins && i < parts.size(); ++i) reader->join(held[i], *parts[i]);
  if (options.core_skip) {
    const auto scales = neighbourhood_scales(world, partition, m.grid, held_cells, options.threads);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->set_core_scale(scales[i], options.threads);
  }
  m.statistics = survey_parts(options, partition, held, parts);
  auto divided = std::make_shared<DividedGas>(DividedGas{options.partition, {}, {}});
  const double fastest_gas = m.statistics.fastest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    divided->parts.push_back(reader->part_of(held[i], parts[i], fastest_gas));
  }
  divided->read = [=, stamp = *m.stamp, threads = options.threads](int domain, const std::vector<float>& core_scale) {
    const auto cells = reader->read(domain);
    if (joins) reader->join(domain, *cells);
    if (!core_scale.empty()) cells->set_core_scale(core_scale, threads, 0);
    GasPart part = reader->part_of(domain, cells, fastest_gas);
    stamp.require_same();
    return part;
  };
  m.cells = divided->parts.front().cells;
  auto& whole = std::get<UniformGrid<double>>(m.dataset);
  whole.gas = parts.front()->records();
  whole.gas.numbers = {blank_cell, 0}, whole.gas.stride = 0;  // every cell is this one
  m.divided = std::move(divided);
}

void add_grid_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options) {
  const CellUnits units = units_of(m, dataset, line);
  if (options.world) {
    const CellLayout layout{dataset.packed, dataset.dust.has_value(), options.core_skip};
    require_memory_of_all(*options.world, m.grid, layout, dynamic_cast<const GridPartition*>(options.partition.get()));
  }
  if (options.partition) {
    add_parts(m, dataset, line, units, options);
  } else {
    const auto cells = read_cells(dataset, line, m.grid, units, {m.grid.box(), options.core_skip, 0, options.threads});
    cells->finish(options.threads, options.join);
    m.cells = cells;
    m.dropped = cells->dropped();
    say_dropped(dataset, m.dropped);
    m.statistics = m.cells->statistics();
    m.dataset = cells->dataset();
  }
  m.number_density = m.statistics.mean_density();
  m.column_density = m.number_density * m.size * double(m.grid.count[2]);
  m.tau0 = m.column_density * m.cross_section;
  std::get<UniformGrid<double>>(m.dataset).physics =
      physics_of(m, dataset, line, m.statistics.fastest, options.dust_depth);
  warn_of_cells(m, std::get<UniformGrid<double>>(m.dataset).physics.stop, joined_cells(m), dataset, line);
}

std::shared_ptr<const Partition> divide_grid(const MediumOutline& m, const Cut& cut) {
  const GridShape& grid = m.grid;
  Domains::Work work;
  if (cut.light) {
    // Half of the work is thought to be where photons begin, and half to be everywhere.
    work = [&](const CellBox& box) {
      std::array<double, 3> low{}, high{};
      for (std::size_t k = 0; k < 3; ++k) {
        low[k] = double(box.first[k]) / double(grid.count[k]);
        high[k] = double(box.first[k] + box.count[k]) / double(grid.count[k]);
      }
      return cut.light(low, high) + double(box.cells()) / double(grid.cells());
    };
  }
  return std::make_shared<GridPartition>(grid, Domains(grid.count, grid.periodic, cut.count, cut.margin, work));
}

std::vector<std::int64_t> find_dropped_of_grid(const MediumOutline& outline, const config::Dataset& dataset,
                                               const Line& line, const comm::World& world, int threads) {
  // Slabs of some layers, of which each rank looks at as many.
  const auto [nx, ny, nz] = outline.grid.count;
  const std::int64_t layers = std::max<std::int64_t>((1 << 24) / (ny * nz), 1);
  const std::int64_t begin = nx * world.rank() / world.ranks(), end = nx * (world.rank() + 1) / world.ranks();
  std::vector<CellBox> slabs;
  for (std::int64_t x = begin; x < end; x += layers) slabs.push_back({{x, 0, 0}, {std::min(layers, end - x), ny, nz}});
  const double fastest = fastest_of_all(world, dataset, line, outline.grid, slabs, threads);
  std::vector<std::int64_t> bad;
  for (const CellBox& slab : slabs) {
    const auto cells = read_cells(dataset, line, outline.grid, units_of(outline, dataset, line),
                                  {slab, false, fastest, threads, true});
    for (const std::int64_t i : cells->dropped()) bad.push_back(slab.first[0] * ny * nz + i);
  }
  return bad;
}

}  // namespace

extern const DatasetType uniform_grid_type;  // for the generated table
const DatasetType uniform_grid_type{.name = "uniform_grid",
                                    .meaning = "cubic cells from a file ([grids](formats.md#grids))",
                                    .model = false,
                                    .flows = false,
                                    .gridded = true,
                                    .peak = 0,
                                    .add_keys = config::add_grid_keys,
                                    .outline = outline_grid,
                                    .add_cells = add_grid_cells,
                                    .divide = divide_grid,
                                    .find_dropped = find_dropped_of_grid};

}  // namespace thor
