// A homogeneous cube on a grid: the smallest dataset type there can be (CONTRIBUTING.md, "A dataset type").
#include "thor/config/section.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/grid_mesh.hpp"
#include "thor/datasets/model.hpp"

namespace thor {
namespace {

void add_cube_keys(config::Section<config::Dataset>& s) {
  const config::Condition cube{"type", {"cube"}};
  s.quantity("edge", [](config::Dataset& d) -> double& { return d.more["edge"]; }, Dimension::length, config::positive,
             {.meaning = "edge length of the cube, which is centred on the origin; `tau0` is measured along half of it",
              .example = "2 kpc",
              .when = cube});
  s.integer("resolution", [](config::Dataset& d) -> double& { return d.more["resolution"]; }, 1, 4096,
            {.meaning = "cells along the edge", .fallback = "16", .when = cube});
}

MediumOutline outline_cube(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  const double edge = dataset.more.at("edge");
  MediumOutline m = build_model(dataset, line, edge / 2, 0, refuse).medium;
  const auto count = std::int64_t(dataset.more.at("resolution"));
  GridShape shape;
  shape.count = {count, count, count};
  shape.cell_size = edge / double(count);
  shape.origin = {-edge / 2, -edge / 2, -edge / 2};
  set_grid(m, shape);
  m.dataset = without_gas(shape);
  return m;
}

void add_cube_cells(Medium& m, const config::Dataset&, const Line&, const CellOptions& options) {
  // Densities in units of 1/(sigma_0 cell): the opacity of a cell comes out as it goes in.
  const CellUnits units{m.thermal_speed, m.thermal_speed, 0, 1, 1, m.a};
  const double opacity = 2 * m.tau0 / double(m.grid.count[0]);
  const auto cells = std::make_shared<Cells>(m.grid, CellLayout{false, m.dust.tau > 0, options.core_skip}, units, 0);
  for (std::int64_t i = 0; i < m.grid.cells(); ++i) {
    cells->set_density(i, opacity);
    cells->set_temperature(i, 1);
    for (int k = 0; k < 3; ++k) cells->set_velocity(i, k, 0);
    if (m.dust.tau > 0) cells->set_dust(i, opacity * m.dust.tau / m.tau0);
  }
  cells->finish(options.threads, options.join);
  m.cells = cells;
  m.dataset = cells->dataset();
}

}  // namespace

extern const DatasetType cube_type;  // for the generated table
const DatasetType cube_type{.name = "cube",
                            .meaning = "a homogeneous cube at rest, in cells",
                            .model = true,
                            .flows = false,
                            .gridded = true,
                            .peak = 0,
                            .add_keys = add_cube_keys,
                            .outline = outline_cube,
                            .add_cells = add_cube_cells};

}  // namespace thor
