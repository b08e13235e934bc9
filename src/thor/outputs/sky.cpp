#include "thor/outputs/sky.hpp"

#include "thor/io/array/output.hpp"

namespace thor {

SkyPlan plan_sky(const SkyOutput& o, const OutputContext& context) {
  SkyPlan plan{};
  plan.frequency = context.axis(o.reference);
  plan.of = o.of;
  plan.sky = context.sky(o.sight);
  plan.half_width = o.width / 2;
  plan.pixels = std::int64_t(o.pixels), plan.rows = std::int64_t(o.height());
  plan.half_height = o.rows > 0 ? plan.half_width * double(plan.rows) / double(plan.pixels) : plan.half_width;
  plan.bins.count = plan.pixels * plan.rows;
  plan.bins.errors = o.errors;
  return plan;
}

void write_sky(io::ArrayOutput& file, const std::string& group, const std::string& array, const SkyOutput& o,
               const SkyPlan& plan, BinnedLight light, double channel, const std::string& unit) {
  const SkyUnits units = units_of(plan.sky.distances);
  const double side = o.width / units.in_cm / double(o.pixels), per = side * side * channel * units.light;
  std::vector<std::uint64_t> shape{o.height(), o.pixels};
  if (plan.channels > 0) shape.insert(shape.begin(), std::uint64_t(plan.channels));
  const auto edges = [&](std::uint64_t count) {
    std::vector<double> places(count + 1);
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = (double(i) - 0.5 * double(count)) / double(o.pixels) * o.width / units.in_cm;
    }
    return places;
  };
  write_attributes(file, group, o.of, o.generator, plan.frequency, light, plan.sky.distances);
  write_attributes(file, group, o.sight, plan.sky);
  file.write(group + "/edges_right", edges(o.pixels), units.length, "edges of the pixels, to the right of the centre");
  file.write(group + "/edges_up", edges(o.height()), units.length, "edges of the pixels, above the centre");
  write_bins(file, group, array, shape, unit, "surface brightness: rows upward, columns to the right", std::move(light),
             [&](std::size_t) { return per; });
}

}  // namespace thor
