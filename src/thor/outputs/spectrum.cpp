#include "thor/outputs/spectrum.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<SpectrumOutput>& SpectrumOutput::section() {
  using namespace config;
  static const Section<SpectrumOutput> section = [] {
    Section<SpectrumOutput> s("");
    declare_binned(s);
    s.choice("axis", &SpectrumOutput::axis,
             std::vector<Option<Axis>>{
                 {"x", Axis::x, "(c/v_th) ln(ν/ν₀), positive to the blue"},
                 {"velocity", Axis::velocity, "c(λ/λ₀ − 1), positive to the red"},
                 {"wavelength", Axis::wavelength, "in vacuum"},
                 {"frequency", Axis::frequency, "ν"},
             },
             {.meaning = "what is binned", .fallback = "velocity"});
    const auto range = [&s](Dimension dimension, Bounds bounds, const char* axis, const char* example) {
      const auto set = [](SpectrumOutput& output, double low, double high, Dimension) {
        output.low = low;
        output.high = high;
      };
      s.interval(
          "range", set, {dimension}, bounds,
          {.meaning = "of the axis; light beyond is counted apart", .example = example, .when = {"axis", {axis}}});
    };
    range(Dimension::none, anything, "x", "[-30, 30]");
    range(Dimension::velocity, anything, "velocity", "[-1000 km/s, 1000 km/s]");
    range(Dimension::wavelength, positive, "wavelength", "[1210 Angstrom, 1220 Angstrom]");
    range(Dimension::frequency, positive, "frequency", "[2.46e15 Hz, 2.47e15 Hz]");
    s.integer("bins", &SpectrumOutput::bins, 1, 10'000'000, {.meaning = "of equal width", .example = "200"});
    s.text("reference", &SpectrumOutput::reference, "the name of a transition", [](const std::string&) { return true; },
           {.meaning = "the transition that x and velocities are counted from, as in `thor lines`; by default the "
                       "line's first",
            .fallback = "",
            .when = {"axis", {"x", "velocity"}}});
    s.check([](Reader& reader, const SpectrumOutput& o) { check_edges(reader, o.low, o.high, o.bins); });
    return s;
  }();
  return section;
}

SpectrumPlan SpectrumOutput::plan(const OutputContext& context) const {
  return {{.count = std::int64_t(bins)}, context.axis(reference), axis, of, low, high};
}

void SpectrumOutput::write(io::ArrayOutput& file, const SpectrumPlan& plan, const BinnedLight& light) const {
  const AxisUnits units = units_of(axis);
  const double width = (high - low) / units.in_cgs / double(bins);
  std::vector<double> edges(bins + 1), flux(bins), error(bins);
  for (std::size_t i = 0; i < edges.size(); ++i) {  // exactly 0 in the middle, where a line may be
    edges[i] = (low + double(i) * (high - low) / double(bins)) / units.in_cgs;
  }
  for (std::size_t i = 0; i < bins; ++i) {
    flux[i] = light.light[i] / width;
    error[i] = light.error[i] / width;
  }
  const std::string group = "/spectra/" + name;
  file.write(group + "/edges", edges, units.unit, std::string("bin edges: ") + units.meaning);
  file.write(group + "/flux", flux, units.flux_unit, "luminosity per unit of the axis");
  file.write(group + "/error", error, units.flux_unit, "Monte Carlo standard error of flux");
  file.attribute(group, "axis", std::string(units.name));
  file.attribute(group, "of", config::name_of(of));
  file.attribute(group, "wavelength0", plan.frequency.wavelength / constants::angstrom);
  file.attribute(group, "luminosity_beyond", light.beyond);
  file.attribute(group, "error_method", light.error_method);
}

}  // namespace thor
