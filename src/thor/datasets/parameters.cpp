#include "thor/datasets/parameters.hpp"

#include "thor/config/section.hpp"
#include "thor/core/gas_limits.hpp"

namespace thor::config {
namespace {

constexpr double usual_f_ion = 0.01;

constexpr Bounds not_relativistic{.low = -fastest_gas, .high = fastest_gas};

const Section<Density>& density_section() {
  static const Section<Density> section = [] {
    Section<Density> s("How the density falls with radius.");
    s.choice("profile", &Density::profile,
             std::vector<Option<DensityProfile>>{
                 {"homogeneous", DensityProfile::homogeneous, "the same everywhere"},
                 {"power_law", DensityProfile::power_law, "n ∝ r^exponent"},
             },
             {.meaning = "shape of n(r)", .fallback = "homogeneous"});
    s.number(
        "exponent", &Density::exponent, anything,
        {.meaning = "negative: the density falls outward; a column that diverges at the centre is refused, give an "
                    "`inner_radius`",
         .example = "-2",
         .when = {"profile", {"power_law"}}});
    return s;
  }();
  return section;
}

const Section<Velocity>& velocity_section() {
  static const Section<Velocity> section = [] {
    Section<Velocity> s(
        "Radial bulk velocity of the gas (in a slab: away from the mid-plane). Exactly one of `max` and `average` is "
        "given; negative is inflow.");
    s.choice("profile", &Velocity::profile,
             std::vector<Option<VelocityProfile>>{
                 {"static", VelocityProfile::static_, "gas at rest"},
                 {"linear", VelocityProfile::linear, "v ∝ r (slab: v_z ∝ z), a Hubble-like flow"},
                 {"constant", VelocityProfile::constant, "one speed everywhere (slab: v_z = ±v above and below)"},
                 {"power_law", VelocityProfile::power_law, "v ∝ r^exponent"},
             },
             {.meaning = "shape of v(r)", .fallback = "static"});
    s.number("exponent", &Velocity::exponent, anything,
             {.meaning = "0 is `constant`", .example = "0.5", .when = {"profile", {"power_law"}}});
    const Condition moving{"profile", {"linear", "constant", "power_law"}};
    s.quantity("max", &Velocity::max, Dimension::velocity, not_relativistic,
               {.meaning = "the largest speed", .example = "200 km/s", .when = moving});
    s.quantity("average", &Velocity::average, Dimension::velocity, not_relativistic,
               {.meaning = "the speed averaged over the distance from the inner to the outer edge",
                .example = "100 km/s",
                .when = moving});
    s.exactly_one({"max", "average"});
    return s;
  }();
  return section;
}

const Section<Dust>& dust_section() {
  static const Section<Dust> section = [] {
    Section<Dust> s(
        "Dust that follows the gas: its optical depth, or a `law` that gives σ_d at the line's wavelength and with it "
        "τ_d = σ_d (N_HI + f_ion N_HII) Z/Z₀ (Laursen et al. 2009).");
    s.number("tau", &Dust::tau, {.low = 0, .high = 1e15},
             {.meaning = "extinction (absorption and scattering) along the path of `tau0`", .example = "0.1"});
    s.choice("law", &Dust::law,
             std::vector<Option<DustLaw>>{{"SMC", DustLaw::smc, "Small Magellanic Cloud, Z₀ = 10^-0.6 solar"},
                                          {"LMC", DustLaw::lmc, "Large Magellanic Cloud, Z₀ = 10^-0.3 solar"}},
             {.meaning = "cross-section per hydrogen atom", .example = "SMC"});
    s.exactly_one({"tau", "law"});
    const Condition by_law{"law", {"SMC", "LMC"}};
    s.optional_quantity(
        "metallicity", &Dust::metallicity, Dimension::none, {.low = 0, .high = 1e3},
        {.meaning = "Z of the gas, in units of the solar one; needed but in a `uniform_grid`, whose file "
                    "holds it",
         .example = "0.3",
         .when = by_law});
    s.optional_quantity("hydrogen_column", &Dust::hydrogen_column, Dimension::column_density, non_negative,
                        {.meaning = "N_HI along the path of `tau0`; needed where the line is not one of hydrogen",
                         .example = "1e20 cm^-2",
                         .when = by_law});
    s.quantity("ionized_column", &Dust::ionized_column, Dimension::column_density, non_negative,
               {.meaning = "N_HII along the same path", .fallback = "0 cm^-2", .when = by_law});
    s.number("f_ion", &Dust::f_ion, {.low = 0, .high = 1},
             {.meaning = "share of the dust that survives where hydrogen is ionised",
              .fallback = "0.01",
              .when = by_law});  // usual_f_ion
    s.number("albedo", &Dust::albedo, {.low = 0, .high = 1},
             {.meaning = "share of the extinction that is scattering", .fallback = "0.32"});
    s.number("g", &Dust::g, {.low = -0.9999, .high = 0.9999},
             {.meaning = "mean cosine of a scattering (Henyey-Greenstein)", .fallback = "0.73"});
    return s;
  }();
  return section;
}

}  // namespace

const Section<Dataset>& dataset_section() {
  static const Section<Dataset> section = [] {
    Section<Dataset> s(
        "Where the gas is. In a shell or slab exactly one of `tau0`, `column_density` and `number_density` says how "
        "much of it there is; the first two are counted along a radius from the inner edge (centre, mid-plane) to the "
        "outer.");
    s.choice("type", &Dataset::type,
             std::vector<Option<DatasetType>>{
                 {"shell", DatasetType::shell, "a sphere, or a shell around a cavity"},
                 {"slab", DatasetType::slab, "a slab, infinite in x and y, its mid-plane at z = 0"},
                 {"uniform_grid", DatasetType::uniform_grid, "cubic cells from a file ([grids](formats.md#grids))"},
             },
             {.meaning = "geometry", .example = "shell"});
    const Condition shell{"type", {"shell"}}, slab{"type", {"slab"}}, grid{"type", {"uniform_grid"}};
    const Condition model{"type", {"shell", "slab"}};
    s.quantity("inner_radius", &Dataset::inner_radius, Dimension::length, non_negative,
               {.meaning = "inside there is nothing; less than `outer_radius`", .fallback = "0 cm", .when = shell});
    s.quantity("outer_radius", &Dataset::outer_radius, Dimension::length, positive,
               {.meaning = "edge of the gas", .example = "1 kpc", .when = shell});
    s.map("density", &Dataset::density, density_section(),
          {.meaning = "density profile", .fallback = "{}", .when = shell});
    s.quantity("half_thickness", &Dataset::half_thickness, Dimension::length, positive,
               {.meaning = "from the mid-plane to the surface", .example = "1 kpc", .when = slab});
    s.quantity("temperature", &Dataset::temperature, Dimension::temperature, positive,
               {.meaning = "of the gas", .example = "1e4 K", .when = model});
    s.quantity("b_turb", &Dataset::b_turb, Dimension::velocity, {.low = 0, .high = fastest_gas},
               {.meaning = "turbulent broadening, added in quadrature to the thermal speed", .fallback = "0 km/s"});
    s.number(
        "tau0", &Dataset::tau0, positive,
        {.meaning = "line-centre optical depth N σ₀, at the gas's own temperature", .example = "1e6", .when = model});
    s.quantity("column_density", &Dataset::column_density, Dimension::column_density, positive,
               {.meaning = "column density N of the absorbing atoms", .example = "2e20 cm^-2", .when = model});
    s.quantity("number_density", &Dataset::number_density, Dimension::number_density, positive,
               {.meaning = "density of the absorbing atoms at the outer edge", .example = "1e-2 cm^-3", .when = model});
    s.exactly_one({"tau0", "column_density", "number_density"});
    s.map("velocity", &Dataset::velocity, velocity_section(),
          {.meaning = "bulk velocity", .fallback = "{}", .when = model});
    s.map("dust", &Dataset::dust, dust_section(), {.meaning = "none where it is left out"});
    s.number("step_limiter", &Dataset::step_limiter, {.low = 0, .high = 1, .low_open = true},
             {.meaning = "f: a sub-step changes velocity by at most f v_th and density by at most a share f",
              .fallback = "0.05"});
    s.integer("cells", &Dataset::cells, 0, 4096,
              {.meaning = "realised on a grid of so many cells along its diameter, for comparison; 0 is not",
               .fallback = "0",
               .when = shell});
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
    s.check([](Reader& reader, const Dataset& d) {
      if (d.outer_radius > 0 && d.inner_radius >= d.outer_radius) {
        reader.report("inner_radius", "must be less than outer_radius");
      }
      const bool grid = d.type == DatasetType::uniform_grid;
      if (d.dust && grid && d.dust->tau) {
        reader.report("dust.tau", "has no meaning in a grid, whose file says how much dust there is: give a `law`");
      }
      if (d.dust && d.dust->law && d.dust->metallicity.has_value() == grid) {
        reader.report("dust.metallicity",
                      grid ? "is in the file of the grid: take it out" : "missing; expected a number such as 0.3");
      }
      if (d.dust && grid && (d.dust->hydrogen_column || d.dust->ionized_column > 0)) {
        reader.report(d.dust->hydrogen_column ? "dust.hydrogen_column" : "dust.ionized_column",
                      "has no meaning in a grid, whose file says how much dust there is");
      }
      if (d.dust && grid && d.dust->law && d.dust->f_ion != usual_f_ion) {
        reader.report("dust.f_ion", "is in the dust of the grid's file: give it to `thor grid --f-ion`");
      }
      if (d.cells == 1) reader.report("cells", "must be 0 or at least 2");
    });
    return s;
  }();
  return section;
}

}  // namespace thor::config
