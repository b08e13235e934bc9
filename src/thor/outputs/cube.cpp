#include "thor/outputs/cube.hpp"

#include <fmt/format.h>

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<CubeOutput>& CubeOutput::section() {
  using namespace config;
  static const Section<CubeOutput> section = [] {
    Section<CubeOutput> s("");
    declare_sky(s, true);
    s.choice("axis", &CubeOutput::axis, frequency_options<Axis>(),
             {.meaning = "quantity that is binned", .fallback = "velocity"});
    declare_frequency_ranges(s, "axis");
    s.integer("bins", &CubeOutput::bins, 1, 10'000'000,
              {.meaning = "number of bins, of equal width", .example = "200"});
    declare_reference(s, {"axis", {"x", "velocity"}});
    s.check([](Reader& reader, const CubeOutput& o) {
      check_edges(reader, o.low, o.high, o.bins);
      const double bins = double(o.pixels) * double(o.height()) * double(o.bins);
      if (bins > 5e7) reader.report("bins", fmt::format("{:.3g} bins in all; at most 5e7 are possible", bins));
    });
    return s;
  }();
  return section;
}

SkyPlan CubeOutput::plan(const OutputContext& context) const {
  SkyPlan plan = plan_sky(*this, context);
  const double stretch = plan.sky.distances.stretch();
  plan.axis = axis, plan.low = in_rest_frame(axis, low, stretch), plan.high = in_rest_frame(axis, high, stretch);
  plan.channels = std::int64_t(bins);
  plan.bins.count *= plan.channels;
  return plan;
}

void CubeOutput::write(io::ArrayOutput& file, const SkyPlan& plan, BinnedLight light) const {
  const AxisUnits units = units_of(axis);
  const std::string group = "/cubes/" + name;
  const double width = (high - low) / units.in_cgs / double(bins);
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = (low + double(i) * (high - low) / double(bins)) / units.in_cgs;
  }
  file.write(group + "/edges", edges, units.unit, meaning_of(axis, plan.sky.distances.stretch()));
  write_sky(file, group, "intensity", *this, plan, std::move(light), width,
            std::string(units_of(plan.sky.distances).brightness) + units.per);
  file.attribute(group, "axis", std::string(units.name));
}

}  // namespace thor
