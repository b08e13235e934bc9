#include "thor/operators/absorption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/line/line.hpp"
#include "thor/operators/fields.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {

const Section<AbsorptionOperator>& AbsorptionOperator::section() {
  static const Section<AbsorptionOperator> section = [] {
    Section<AbsorptionOperator> s("");
    declare_name(s, "forest");
    s.text("line", &AbsorptionOperator::line, "the name of a line",
           [](const std::string& name) { return !name.empty(); },
           {.meaning = "line, as in `thor lines`, with all its transitions", .example = "Lya"});
    s.text(
        "density_field", &AbsorptionOperator::density_field, "the name of an array",
        [](const std::string&) { return true; },
        {.meaning =
             "array with the number density of the absorber; by default that of the line's ion, such as `HI_density`",
         .fallback = ""});
    s.map("sightlines", &AbsorptionOperator::sightlines, sightlines_section(),
          {.meaning = "sightlines of the spectra"});
    s.choice(
        "axis", &AbsorptionOperator::axis,
        std::vector<Option<AbsorptionAxis>>{
            {"velocity", AbsorptionAxis::velocity, "c ln(λ/λ₀), in which v + H s adds up; positive to the red"},
            {"wavelength", AbsorptionAxis::wavelength, "in vacuum, in the frame of the box, in bins of equal ln λ"}},
        {.meaning = "axis of the spectrum", .fallback = "velocity"});
    const auto set = [](AbsorptionOperator& o, double low, double high, Dimension) { o.low = low, o.high = high; };
    s.interval("range", set, {Dimension::velocity}, anything,
               {.meaning = "lower and upper end of the axis",
                .example = "[0 km/s, 2000 km/s]",
                .when = {"axis", {"velocity"}}});
    s.interval("range", set, {Dimension::wavelength}, positive,
               {.meaning = "lower and upper end of the axis",
                .example = "[1215 Angstrom, 1225 Angstrom]",
                .when = {"axis", {"wavelength"}}});
    s.integer("bins", &AbsorptionOperator::bins, 1, 10'000'000, {.meaning = "number of bins", .example = "2000"});
    s.integer("oversampling", &AbsorptionOperator::oversampling, 0, 64,
              {.meaning = "number of points per bin, which are averaged; 0: as many as the narrowest line needs",
               .fallback = "0"});
    s.integer("subsampling", &AbsorptionOperator::subsampling, 0, most_pieces,
              {.meaning = "number of parts of a cell with constant Hubble flow; 0: exact integral over the cell",
               .fallback = "0"});
    s.quantity(
        "lsf", &AbsorptionOperator::lsf, Dimension::velocity, non_negative,
        {.meaning = "FWHM of a Gaussian line-spread function, applied to `observed`; 0: none", .fallback = "0 km/s"});
    s.number("signal_to_noise", &AbsorptionOperator::signal_to_noise, {.low = 0, .high = 1e9},
             {.meaning = "signal-to-noise ratio of a continuum bin: Gaussian noise, drawn with `seed`, added to "
                         "`observed`; 0: none",
              .fallback = "0"});
    s.choice(
        "beyond", &AbsorptionOperator::beyond,
        std::vector<Option<GasBeyond>>{{"unknown", GasBeyond::unknown, "NaN where gas outside the box could absorb"},
                                       {"empty", GasBeyond::empty, "no gas outside the box: continuum"}},
        {.meaning = "absorption by gas outside an open box with Hubble flow; a periodic box continues",
         .fallback = "unknown"});
    s.check([](Reader& reader, const AbsorptionOperator& o) {
      if (reader.clean("range") && reader.clean("bins") && o.bins > 0 &&
          !((o.high - o.low) / double(o.bins) > 1e-12 * std::max(std::abs(o.low), std::abs(o.high)))) {
        reader.report("range", "too narrow for so many bins");
      }
    });
    return s;
  }();
  return section;
}

AbsorptionPlan AbsorptionOperator::plan(const Line& line, FieldSource& fields, double coldest, double longest,
                                        const std::string& key) const {
  using constants::c, constants::km;
  AbsorptionPlan plan;
  Absorption& a = plan.absorption;
  const GasOutline& gas = fields.outline();
  const Absorber ion = fields.absorber(line, density_field);
  a.density = ion.density.quantity, a.density_unit = ion.density.unit;
  a.temperature = ion.temperature.quantity, a.temperature_unit = ion.temperature.unit;
  a.velocity = ion.velocity.quantity, a.velocity_unit = ion.velocity.unit;
  a.length = gas.length;
  a.hubble = gas.hubble * gas.length;
  a.b_turb2 = fields.b_turb() * fields.b_turb();
  const AtomicTransition& first = line.first();
  plan.wavelength0 = first.wavelength;
  double narrowest = HUGE_VAL, largest_a = 0, reddest = -HUGE_VAL, bluest = HUGE_VAL;
  for (const AtomicTransition* t : line.absorbing()) {
    const double b = t->thermal_speed(coldest, fields.b_turb());
    narrowest = std::min(narrowest, b), largest_a = std::max(largest_a, t->voigt_parameter(b));
    const double shift = c * std::log(t->wavelength / first.wavelength);
    reddest = std::max(reddest, shift), bluest = std::min(bluest, shift);
    a.transition[a.transitions++] = {shift, t->cross_section(1) * t->population, t->voigt_parameter(1),
                                     std::pow(t->thermal_speed(1, 0), 2)};
  }
  if (largest_a > 0.2) {
    throw Error(
        ExitCode::input,
        fmt::format(
            "{}: gas of {:.2g} K has a Voigt parameter of {:.2g} in line {}; expected at most 0.2: set dataset.b_turb",
            key, coldest, largest_a, line.name));
  }
  plan.bluest = bluest, plan.reddest = reddest;
  const bool in_velocity = axis == AbsorptionAxis::velocity;
  const double begin = in_velocity ? low : c * std::log(low / first.wavelength);
  const double end = in_velocity ? high : c * std::log(high / first.wavelength);
  // Gas absorbs between these; damping wings may reach some thousand km/s beyond.
  constexpr double wings = 5e3;
  const double flow = gas.hubble * longest;
  if (!gas.repeats() && (end < bluest - wings * km || begin > reddest + flow + wings * km)) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}.range: line {} absorbs from {:.5g} to {:.5g} km/s ({:.6g} to {:.6g} Angstrom) along these "
                    "sightlines, which lies more than {:.0f} km/s beyond this range",
                    key, line.name, bluest / km, (reddest + flow) / km,
                    first.wavelength * std::exp(bluest / c) / constants::angstrom,
                    first.wavelength * std::exp((reddest + flow) / c) / constants::angstrom, wings));
  }
  const double width = (end - begin) / double(bins);
  plan.oversampling = int(oversampling);
  if (plan.oversampling == 0) {
    // The optical depth takes a point for each b; the flux of a saturated line, which has steeper flanks, some more.
    constexpr double of_depth = 1.2, of_flux = 5;
    plan.oversampling = int(std::clamp(std::ceil(of_flux * width / narrowest), 1., 64.));
    if (of_depth * width / narrowest > 64) {
      warning(
          "{}: bins of {:.3g} km/s are {:.0f} times as wide as the narrowest line (gas of {:.2g} K) and do not resolve "
          "it. Use more bins.",
          key, width / km, width / narrowest, coldest);
    }
  }
  a.bins = int(bins) * plan.oversampling;
  a.width = width / plan.oversampling;
  a.first = begin + 0.5 * a.width;
  a.pieces = int(subsampling);
  for (std::uint64_t i = 0; i <= bins; ++i) plan.edges.push_back(begin + double(i) * width);
  return plan;
}

}  // namespace thor::config
