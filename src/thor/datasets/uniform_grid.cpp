#include "thor/datasets/uniform_grid.hpp"

#include <cmath>
#include <string>

#include "thor/config/section.hpp"
#include "thor/core/constants.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/grid_file.hpp"

namespace thor {
namespace config {
namespace {

void add_grid_keys(Section<Dataset>& s) {
  const Condition grid{"type", {"uniform_grid"}};
  s.text("path", &Dataset::path, "a file name", [](const std::string& path) { return !path.empty(); },
         {.meaning = "a grid file, as `thor grid` writes it; relative to the configuration",
          .example = "galaxy_grid.h5",
          .when = grid});
  s.text("density_field", &Dataset::density_field, "the name of an array", [](const std::string&) { return true; },
         {.meaning = "number density of the absorber; by default that of the line's ion, as in `HI_density`",
          .fallback = "",
          .when = grid});
  s.choice("boundary", &Dataset::boundary,
           std::vector<Option<Boundary>>{{"file", Boundary::file, "as the file says"},
                                         {"open", Boundary::open, "photons leave at the faces"},
                                         {"periodic", Boundary::periodic, "they enter again on the other side"}},
           {.meaning = "of the box", .fallback = "file", .when = grid});
  s.boolean("hubble_flow", &Dataset::hubble_flow,
            {.meaning = "redshift along the path by H(z) of the file; a step shifts by at most f v_th",
             .fallback = "true",
             .when = grid});
  s.optional_quantity("stop_shift", &Dataset::stop_shift, Dimension::wavelength, positive,
                      {.meaning = "a photon this far to the red of what absorbs is stopped, and counted as "
                                  "such; needed with periodic boundaries",
                       .example = "5 Angstrom",
                       .when = grid});
  s.boolean("packed", &Dataset::packed,
            {.meaning = "12 bytes a cell in place of 20 to 24, with errors of 0.1 % ([grids](formats.md#grids))",
             .fallback = "false",
             .when = grid});
  s.choice("bad_cells", &Dataset::bad_cells,
           std::vector<Option<BadCells>>{{"error", BadCells::error, "the run does not start"},
                                         {"drop", BadCells::drop, "they are empty, and counted"}},
           {.meaning = "what becomes of NaN, negative densities and temperatures below 0.1 K",
            .fallback = "error",
            .when = grid});
}

}  // namespace
}  // namespace config

namespace {

/// A grid's own temperature is that of each cell; the unit of velocity is the thermal speed at this one.
constexpr double grid_temperature = 1e4;

MediumOutline outline_grid(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  MediumOutline m{};
  m.grid = read_grid_shape(dataset, line);
  m.size = m.grid.cell_size;
  m.temperature = grid_temperature;  // and no turbulence: the width of each cell has it
  const AtomicTransition& first = line.first();
  m.thermal_speed = first.thermal_speed(m.temperature, 0);
  m.a = first.voigt_parameter(m.thermal_speed);
  m.cross_section = first.population * first.cross_section(m.thermal_speed);
  if (dataset.dust) m.dust = {1, dataset.dust->albedo, dataset.dust->g};
  for (const AtomicTransition* t : line.absorbing()) {
    if (t->ion == first.ion || dataset.b_turb == 0) continue;
    refuse("dataset.b_turb", "must be 0 in a grid with isotopes: their widths would not keep their ratio");
    break;
  }
  if (m.grid.periodic && !(dataset.stop_shift && m.grid.hubble > 0)) {
    refuse("dataset.stop_shift",
           "a periodic box has no way out: give a stop_shift, with the Hubble flow of a cosmological snapshot; or set "
           "boundary: open");
  }
  UniformGrid<double> g{};
  for (int k = 0; k < 3; ++k) {
    g.shape[k] = int(m.grid.count[std::size_t(k)]);
    g.zero[k] = -m.grid.origin[std::size_t(k)] / m.size;
  }
  m.dataset = g;
  return m;
}

void add_grid_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options) {
  const AtomicTransition& first = line.first();
  CellUnits units{m.thermal_speed, first.thermal_speed(1, 0), dataset.b_turb, m.cross_section * m.size, 0, m.a};
  if (dataset.dust) {
    units.dust =
        dust_cross_section(*dataset.dust->law, first.wavelength) / dust_metallicity(*dataset.dust->law) * m.size;
  }
  m.cells = read_cells(dataset, line, m.grid, units, options.core_skip, options.threads);
  UniformGrid<double> g = m.cells->dataset();
  m.number_density = m.cells->statistics().mean_density;
  m.column_density = m.number_density * m.size * double(m.grid.count[2]);
  m.tau0 = m.column_density * m.cross_section;
  double narrowest = 1, reddest = 0;
  for (const AtomicTransition* t : line.absorbing()) {
    narrowest = std::min(narrowest, t->thermal_speed(1, 0) / first.thermal_speed(1, 0));
    reddest = std::min(reddest, std::log(first.wavelength / t->wavelength));
  }
  g.hubble = m.grid.hubble * m.size / m.thermal_speed;
  g.step_scale = dataset.step_limiter * narrowest / std::max(g.hubble, 1e-30);
  if (dataset.stop_shift) {
    // From the reddest transition that absorbs: a photon beyond cannot meet another one. The light of a decay that
    // lies out there itself (Fe II 2626) flies first until the Hubble flow has shifted it as far.
    const double shift = constants::c * std::log1p(*dataset.stop_shift / first.wavelength) / m.thermal_speed;
    g.stop = shift - constants::c * reddest / m.thermal_speed;
    for (const AtomicTransition& t : line.transitions) {
      const bool beyond = std::log(first.wavelength / t.wavelength) < reddest;
      if (beyond) g.stop_flight = g.hubble > 0 ? shift / g.hubble : no_limit<double>;
    }
  }
  m.dataset = g;
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
                                    .add_cells = add_grid_cells};

}  // namespace thor
