#include "thor/datasets/parameters.hpp"

#include "thor/config/section.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/datasets/dataset_type.hpp"

namespace thor::config {
namespace {

constexpr double usual_f_ion = 0.01;

constexpr Bounds not_relativistic{.low = -fastest_gas, .high = fastest_gas};

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
             {.meaning = "exponent of v ∝ r^exponent", .example = "0.5", .when = {"profile", {"power_law"}}});
    const Condition moving{"profile", {"linear", "constant", "power_law"}};
    s.quantity("max", &Velocity::max, Dimension::velocity, not_relativistic,
               {.meaning = "largest speed", .example = "200 km/s", .when = moving});
    s.quantity("average", &Velocity::average, Dimension::velocity, not_relativistic,
               {.meaning = "speed averaged over the distance from the inner to the outer edge",
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
        "τ_d = σ_d (N_HI + f_ion N_HII) Z/Z₀ (Laursen et al. 2009), or, in a grid, a `cross_section` of your own.");
    s.number(
        "tau", &Dust::tau, {.low = 0, .high = 1e15},
        {.meaning = "optical depth of dust (absorption and scattering) along the path of `tau0`", .example = "0.1"});
    s.choice("law", &Dust::law,
             std::vector<Option<DustLaw>>{{"SMC", DustLaw::smc, "Small Magellanic Cloud, Z₀ = 10^-0.6 solar"},
                                          {"LMC", DustLaw::lmc, "Large Magellanic Cloud, Z₀ = 10^-0.3 solar"}},
             {.meaning = "extinction law, with a cross-section per hydrogen atom", .example = "SMC"});
    s.optional_quantity("cross_section", &Dust::cross_section, Dimension::area, {.low = 0, .high = 1},
                        {.meaning = "extinction cross-section σ per particle of the grid's `dust_field` n: α = σ n",
                         .example = "1e-21 cm^2"});
    s.exactly_one({"tau", "law", "cross_section"});
    const Condition by_law{"law", {"SMC", "LMC"}};
    s.optional_quantity(
        "metallicity", &Dust::metallicity, Dimension::none, {.low = 0, .high = 1e3},
        {.meaning = "metallicity Z of the gas in solar units; required except in a `uniform_grid`, whose file has it",
         .example = "0.3",
         .when = by_law});
    s.optional_quantity(
        "hydrogen_column", &Dust::hydrogen_column, Dimension::column_density, non_negative,
        {.meaning = "column density N_HI along the path of `tau0`; required if the line is not of hydrogen",
         .example = "1e20 cm^-2",
         .when = by_law});
    s.quantity("ionized_column", &Dust::ionized_column, Dimension::column_density, non_negative,
               {.meaning = "column density N_HII along the path of `tau0`", .fallback = "0 cm^-2", .when = by_law});
    s.number("f_ion", &Dust::f_ion, {.low = 0, .high = 1},
             {.meaning = "fraction of the dust that survives where hydrogen is ionised",
              .fallback = "0.01",
              .when = by_law});  // usual_f_ion
    s.number("albedo", &Dust::albedo, {.low = 0, .high = 1},
             {.meaning = "fraction of the extinction that is scattering", .fallback = "0.32"});
    s.number("g", &Dust::g, {.low = -0.9999, .high = 0.9999},
             {.meaning = "mean cosine of the scattering angle (Henyey-Greenstein)", .fallback = "0.73"});
    return s;
  }();
  return section;
}

}  // namespace

const Section<Dataset>& dataset_section() {
  static const Section<Dataset> section = [] {
    Section<Dataset> s(
        "The gas. A shell, slab or cube needs exactly one of `tau0`, `column_density` and `number_density`; the first "
        "two are measured from the inner edge (centre, mid-plane) to the outer edge.");
    std::vector<Option<std::string>> types;
    Condition model{"type", {}}, flows{"type", {}};
    for (const DatasetType* type : dataset_types()) {
      types.push_back({type->name, type->name, type->meaning});
      if (type->model) model.values.push_back(type->name);
      if (type->flows) flows.values.push_back(type->name);
    }
    s.choice("type", &Dataset::type, types, {.meaning = "geometry", .example = "shell"});
    for (const DatasetType* type : dataset_types()) type->add_keys(s);
    s.quantity("temperature", &Dataset::temperature, Dimension::temperature, positive,
               {.meaning = "temperature of the gas", .example = "1e4 K", .when = model});
    s.quantity("b_turb", &Dataset::b_turb, Dimension::velocity, {.low = 0, .high = fastest_gas},
               {.meaning = "turbulent broadening, added in quadrature to the thermal speed", .fallback = "0 km/s"});
    s.number(
        "tau0", &Dataset::tau0, positive,
        {.meaning = "line-centre optical depth N σ₀ at the temperature of the gas", .example = "1e6", .when = model});
    s.quantity("column_density", &Dataset::column_density, Dimension::column_density, positive,
               {.meaning = "column density N of the absorbing atoms", .example = "2e20 cm^-2", .when = model});
    s.quantity(
        "number_density", &Dataset::number_density, Dimension::number_density, positive,
        {.meaning = "number density of the absorbing atoms at the outer edge", .example = "1e-2 cm^-3", .when = model});
    s.exactly_one({"tau0", "column_density", "number_density"});
    s.map("velocity", &Dataset::velocity, velocity_section(),
          {.meaning = "bulk velocity", .fallback = "{}", .when = flows});
    s.map("dust", &Dataset::dust, dust_section(), {.meaning = "dust mixed with the gas; by default none"});
    s.number(
        "step_limiter", &Dataset::step_limiter, {.low = 0, .high = 1, .low_open = true},
        {.meaning = "largest change in one sub-step: of the velocity in thermal speeds, of the density as a fraction",
         .fallback = "0.05"});
    s.check([](Reader& reader, const Dataset& d) {
      const bool grid = !dataset_type(d.type).model;  // whose dust is in its file
      if (d.dust && grid && d.dust->tau) {
        reader.report("dust.tau",
                      "has no meaning in a grid, whose file says how much dust there is: give a `law` or a "
                      "`cross_section`");
      }
      if (d.dust && !grid && d.dust->cross_section) {
        reader.report("dust.cross_section",
                      "belongs to a grid: give `tau`, the cross-section times the column density");
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
    });
    return s;
  }();
  return section;
}

}  // namespace thor::config
