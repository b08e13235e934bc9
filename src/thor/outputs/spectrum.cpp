#include "thor/outputs/spectrum.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<Aperture>& Aperture::section() {
  using namespace config;
  static const Section<Aperture> section = [] {
    Section<Aperture> s("A circle or ring on the sky of an observer.");
    s.sky_length("radius", &Aperture::radius, sky_bounds, {.meaning = "radius of the circle", .example = "5 kpc"});
    s.sky_length("inner", &Aperture::inner, non_negative, {.meaning = "inner radius of a ring", .fallback = "0 kpc"});
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
    declare_sight(s, true, true);
    s.map("aperture", &SpectrumOutput::aperture, Aperture::section(),
          {.meaning = "part of the sky of the `observer` that is counted; by default all of it"});
    s.check([](Reader& reader, const SpectrumOutput& o) {
      check_edges(reader, o.low, o.high, o.bins);
      if (o.sight.observer.empty() && o.aperture) {
        reader.report("aperture", "is on the sky of an observer: name one");
      }
    });
    return s;
  }();
  return section;
}

SpectrumPlan SpectrumOutput::plan(const OutputContext& context) const {
  const double stretch = context.distances.stretch();
  return {{.count = std::int64_t(bins), .errors = errors},
          context.axis(reference),
          axis,
          of,
          in_rest_frame(axis, low, stretch),
          in_rest_frame(axis, high, stretch),
          context.sky(sight),
          aperture ? aperture->inner : 0,
          aperture ? aperture->radius : 1e300};
}

SpectrumScale SpectrumOutput::scale(const SpectrumPlan& plan) const {
  const Distances& distances = plan.sky.distances;
  const SkyUnits seen = units_of(distances);
  return {(high - low) / units_of(axis).in_cgs / double(bins) * seen.light,
          std::string(seen.energy) + units_of(axis).per,
          std::string(distances.known() ? "flux" : "luminosity") + " per unit of the axis"};
}

void SpectrumOutput::write_axis(io::ArrayOutput& file, const SpectrumPlan& plan) const {
  const AxisUnits units = units_of(axis);
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {  // exactly 0 in the middle, where a line may be
    edges[i] = (low + double(i) * (high - low) / double(bins)) / units.in_cgs;
  }
  const std::string group = "/spectra/" + name;
  file.write(group + "/edges", edges, units.unit, meaning_of(axis, plan.sky.distances.stretch()));
  file.attribute(group, "axis", std::string(units.name));
}

void SpectrumOutput::write(io::ArrayOutput& file, const SpectrumPlan& plan, const BinnedLight& light) const {
  write_axis(file, plan);
  const SpectrumScale units = scale(plan);
  const std::string group = "/spectra/" + name;
  write_bins(file, group, "flux", {bins}, units.unit, units.meaning, light, [&](std::size_t) { return units.light; });
  write_attributes(file, group, of, generator, plan.frequency, light, plan.sky.distances);
  if (sight.observer.empty()) return;
  write_attributes(file, group, sight, plan.sky);
  if (!aperture) return;
  file.attribute(group, "aperture_radius", aperture->radius);
  file.attribute(group, "aperture_inner", aperture->inner);
}

}  // namespace thor
