#include "thor/outputs/profile.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<ProfileOutput>& ProfileOutput::section() {
  using namespace config;
  static const Section<ProfileOutput> section = [] {
    Section<ProfileOutput> s("");
    declare_binned(s);
    declare_sight(s, false, false);
    s.sky_length("radius", &ProfileOutput::radius, sky_bounds,
                 {.meaning = "radius of the outermost ring", .example = "100 kpc"});
    s.sky_length("inner", &ProfileOutput::inner, non_negative,
                 {.meaning = "radius at which the first ring begins", .fallback = "0 kpc"});
    s.integer("bins", &ProfileOutput::bins, 1, 1'000'000, {.meaning = "number of rings", .example = "40"});
    s.choice("spacing", &ProfileOutput::logarithmic,
             std::vector<Option<bool>>{{"linear", false, "rings of equal width"},
                                       {"log", true, "rings of equal ratio; `inner` must be above 0"}},
             {.meaning = "spacing of the rings", .fallback = "linear"});
    s.check([](Reader& reader, const ProfileOutput& o) {
      if (!reader.clean("radius") || !reader.clean("inner") || !reader.clean("bins") || !(o.radius > 0)) return;
      if (o.inner >= o.radius) {
        reader.report("inner", "must be less than radius");
      } else if (o.logarithmic && !(o.inner >= sky_bounds.low)) {
        reader.report("inner", "rings of equal ratio begin above 0: give a radius such as \"1 kpc\"");
      } else if ((o.radius - o.inner) / double(o.bins) < 1e-13 * o.radius) {
        reader.report("bins", "too many rings: their edges would be the same number");
      }
    });
    return s;
  }();
  return section;
}

ProfilePlan ProfileOutput::plan(const OutputContext& context) const {
  ProfilePlan plan{};
  plan.frequency = context.axis(reference);
  plan.of = of;
  plan.sky = context.sky(sight);
  plan.rings = bin_axis(inner, radius, std::int64_t(bins), logarithmic);
  plan.bins.count = plan.rings.bins, plan.bins.errors = errors;
  return plan;
}

void ProfileOutput::write(io::ArrayOutput& file, const ProfilePlan& plan, const BinnedLight& light) const {
  const SkyUnits units = units_of(plan.sky.distances);
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = edge_of(plan.rings, std::int64_t(i)) / units.in_cm;
  const auto per = [&](std::size_t i) {
    return constants::pi * (edges[i + 1] - edges[i]) * (edges[i + 1] + edges[i]) * units.light;
  };
  const std::string group = "/profiles/" + name;
  file.write(group + "/edges", edges, units.length, "edges of the rings: distance from the centre on the sky");
  write_bins(file, group, "surface_brightness", {bins}, units.brightness, "mean surface brightness of each ring", light,
             per);
  write_attributes(file, group, of, generator, plan.frequency, light, plan.sky.distances);
  write_attributes(file, group, sight, plan.sky);
}

}  // namespace thor
