#include "thor/outputs/spectrum.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<Aperture>& Aperture::section() {
  using namespace config;
  static const Section<Aperture> section = [] {
    Section<Aperture> s("A circle or ring on the sky of an observer.");
    s.quantity("radius", &Aperture::radius, Dimension::length, positive,
               {.meaning = "radius of the circle", .example = "5 kpc"});
    s.quantity("inner", &Aperture::inner, Dimension::length, non_negative,
               {.meaning = "radius inside which nothing is counted", .fallback = "0 kpc"});
    s.check([](Reader& reader, const Aperture& a) {
      if (reader.clean("radius") && a.inner >= a.radius) reader.report("inner", "must be less than radius");
    });
    return s;
  }();
  return section;
}

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
    declare_observer(s, true);
    s.map("aperture", &SpectrumOutput::aperture, Aperture::section(),
          {.meaning = "part of the sky of the `observer` that is counted; by default all of it"});
    s.check([](Reader& reader, const SpectrumOutput& o) {
      check_edges(reader, o.low, o.high, o.bins);
      if (o.observer.empty()) {
        if (o.aperture) reader.report("aperture", "is on the sky of an observer: name one");
      } else if (o.of != Fate::escaped && o.of != Fate::emitted) {
        reader.report("of", "an observer sees light that escaped; or, without transfer, light that was emitted");
      }
    });
    return s;
  }();
  return section;
}

SpectrumPlan SpectrumOutput::plan(const OutputContext& context) const {
  return {{.count = std::int64_t(bins), .groups = !observer.empty()},
          context.axis(reference),
          axis,
          of,
          low,
          high,
          context.sky(observer, centre),
          aperture ? aperture->inner : 0,
          aperture ? aperture->radius : 1e300};
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
  if (observer.empty()) return;
  write_attributes(file, group, observer, plan.sky);
  if (!aperture) return;
  file.attribute(group, "aperture_radius", aperture->radius);
  file.attribute(group, "aperture_inner", aperture->inner);
}

}  // namespace thor
