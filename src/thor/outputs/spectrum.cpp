#include "thor/outputs/spectrum.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<SpectrumOutput>& SpectrumOutput::section() {
  using namespace config;
  static const Section<SpectrumOutput> section = [] {
    Section<SpectrumOutput> s("");
    declare_binned(s);
    s.choice("axis", &SpectrumOutput::axis, frequency_options<Axis>(),
             {.meaning = "quantity that is binned", .fallback = "velocity"});
    declare_frequency_ranges(s, "axis");
    s.integer("bins", &SpectrumOutput::bins, 1, 10'000'000,
              {.meaning = "number of bins, of equal width", .example = "200"});
    declare_reference(s, {"axis", {"x", "velocity"}});
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
  write_attributes(file, group, of, plan.frequency, light);
}

}  // namespace thor
