#include "thor/datasets/shell.hpp"

#include "thor/config/section.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/grid_mesh.hpp"
#include "thor/datasets/model.hpp"

namespace thor {
namespace config {
namespace {

const Section<Density>& density_section() {
  static const Section<Density> section = [] {
    Section<Density> s("Density profile of the shell.");
    s.choice("profile", &Density::profile,
             std::vector<Option<DensityProfile>>{
                 {"homogeneous", DensityProfile::homogeneous, "the same everywhere"},
                 {"power_law", DensityProfile::power_law, "n ∝ r^exponent"},
             },
             {.meaning = "shape of n(r)", .fallback = "homogeneous"});
    s.number("exponent", &Density::exponent, anything,
             {.meaning = "exponent of n ∝ r^exponent; -1 or less needs an `inner_radius`",
              .example = "-2",
              .when = {"profile", {"power_law"}}});
    return s;
  }();
  return section;
}

void add_shell_keys(Section<Dataset>& s) {
  const Condition shell{"type", {"shell"}};
  s.quantity("inner_radius", &Dataset::inner_radius, Dimension::length, non_negative,
             {.meaning = "radius of the empty cavity; less than `outer_radius`", .fallback = "0 cm", .when = shell});
  s.quantity("outer_radius", &Dataset::outer_radius, Dimension::length, positive,
             {.meaning = "outer radius of the gas", .example = "1 kpc", .when = shell});
  s.map("density", &Dataset::density, density_section(),
        {.meaning = "density profile", .fallback = "{}", .when = shell});
  s.integer("cells", &Dataset::cells, 0, 4096,
            {.meaning = "puts the shell on a grid with this many cells along its diameter, for comparison; 0: no grid",
             .fallback = "0",
             .when = shell});
  s.check([](Reader& reader, const Dataset& d) {
    if (d.outer_radius > 0 && d.inner_radius >= d.outer_radius) {
      reader.report("inner_radius", "must be less than outer_radius");
    }
    if (d.cells == 1) reader.report("cells", "must be 0 or at least 2");
  });
}

}  // namespace
}  // namespace config

namespace {

MediumOutline outline_shell(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  const double inner = dataset.inner_radius / dataset.outer_radius;
  if (1 - inner < 1e-6) {
    refuse("dataset.inner_radius",
           "a shell thinner than 1e-6 of its radius is not resolved in single precision; use a slab");
  }
  const Model model = build_model(dataset, line, dataset.outer_radius, inner, refuse);
  MediumOutline m = model.medium;
  if (inner == 0 && !model.profile.graded && !model.profile.moving && m.dust.tau == 0) {
    m.dataset = Sphere<double>{m.tau0};
  } else {
    m.dataset = Shell<double>{inner, model.profile};
  }
  return m;
}

/// The shell on a grid of `count` cells along its diameter.
std::shared_ptr<const Cells> realise_shell(const MediumOutline& m, std::int64_t count, const CellOptions& options) {
  const auto* sphere = std::get_if<Sphere<double>>(&m.dataset);
  const Shell<double> shell = sphere ? general(*sphere) : std::get<Shell<double>>(m.dataset);
  GridShape shape;
  shape.count = {count, count, count};
  shape.cell_size = 2 * m.size / double(count);
  shape.origin = {-m.size, -m.size, -m.size};
  const double side = 2 / double(count);  // of a cell, in radii
  // Densities in units of 1/(sigma_0 cell): the opacity of a cell comes out as it goes in.
  const CellUnits units{m.thermal_speed, m.thermal_speed, 0, 1, 1, m.a};
  auto cells = std::make_shared<Cells>(shape, CellLayout{false, m.dust.tau > 0, options.core_skip}, units, 0);
  parallel_for(options.threads, std::size_t(shape.cells()), 1 << 12, [&](std::size_t first, std::size_t end) {
    const auto gas_at = view<double>(shell);
    for (auto i = std::int64_t(first); i < std::int64_t(end); ++i) {
      const std::int64_t index[3] = {i / (count * count), i / count % count, i % count};
      constexpr int sub = 4;  // points along a side: cells at the edge are filled in part
      double opacity = 0;
      for (int k = 0; k < sub * sub * sub; ++k) {
        const int along[3] = {k / (sub * sub), k / sub % sub, k % sub};
        const auto coordinate = [&](int axis) { return (double(index[axis]) + (along[axis] + 0.5) / sub) * side - 1; };
        const Vec3<double> p{coordinate(0), coordinate(1), coordinate(2)};
        const int place = gas_at.locate(p);
        if (place != outside) opacity += gas_at.opacity({place, 0}, p) / (sub * sub * sub);
      }
      const Vec3<double> centre{(double(index[0]) + 0.5) * side - 1, (double(index[1]) + 0.5) * side - 1,
                                (double(index[2]) + 0.5) * side - 1};
      cells->set_density(i, opacity * side);
      cells->set_temperature(i, 1);
      const double v[3] = {gas_at.velocity_along({gas, 0}, centre, {1, 0, 0}),
                           gas_at.velocity_along({gas, 0}, centre, {0, 1, 0}),
                           gas_at.velocity_along({gas, 0}, centre, {0, 0, 1})};
      for (int k = 0; k < 3; ++k) cells->set_velocity(i, k, v[k] * m.thermal_speed);
      if (m.dust.tau > 0) cells->set_dust(i, opacity * side * m.dust.tau / m.tau0);
    }
  });
  cells->finish(options.threads, options.join);
  return cells;
}

void add_shell_cells(Medium& m, const config::Dataset& dataset, const Line&, const CellOptions& options) {
  if (dataset.cells == 0) return;
  const auto cells = realise_shell(m, std::int64_t(dataset.cells), options);
  set_grid(m, cells->shape());
  m.cells = cells;
  m.dataset = cells->dataset();
}

}  // namespace

extern const DatasetType shell_type;  // for the generated table
const DatasetType shell_type{.name = "shell",
                             .meaning = "a sphere, or a shell around a cavity",
                             .model = true,
                             .flows = true,
                             .gridded = false,
                             .peak = 0.931,  // Dijkstra et al. (2006)
                             .add_keys = config::add_shell_keys,
                             .outline = outline_shell,
                             .add_cells = add_shell_cells};

}  // namespace thor
