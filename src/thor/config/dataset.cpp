#include "thor/config/sections.hpp"
#include "thor/core/constants.hpp"

namespace thor::config {
namespace {

Density read_density(Reader reader) {
  Density density;
  const auto profile = reader.choice<DensityProfile>(
      "profile", {{"homogeneous", DensityProfile::homogeneous}, {"power_law", DensityProfile::power_law}},
      "homogeneous");
  if (!profile) return density;
  density.profile = *profile;
  if (*profile == DensityProfile::power_law) density.exponent = reader.number("exponent", anything);
  reader.elsewhere({"exponent"}, "profile: power_law");
  reader.finish();
  return density;
}

Velocity read_velocity(Reader reader) {
  Velocity velocity;
  const auto profile = reader.choice<VelocityProfile>("profile",
                                                      {{"static", VelocityProfile::static_},
                                                       {"linear", VelocityProfile::linear},
                                                       {"power_law", VelocityProfile::power_law}},
                                                      "static");
  if (!profile) return velocity;
  velocity.profile = *profile;
  if (*profile == VelocityProfile::power_law) {
    velocity.exponent = reader.number("exponent", anything);
  }
  if (*profile != VelocityProfile::static_) {
    const std::string key = reader.exactly_one({"max", "average"});
    if (key == "max") velocity.max = reader.quantity(key, Dimension::velocity, below_light);
    if (key == "average") velocity.average = reader.quantity(key, Dimension::velocity, below_light);
  }
  reader.elsewhere({"exponent"}, "profile: power_law");
  reader.elsewhere({"max", "average"}, "profile: linear and profile: power_law");
  reader.finish();
  return velocity;
}

Dust read_dust(Reader reader) {
  Dust dust;
  dust.tau = reader.number("tau", non_negative);
  dust.albedo = reader.number("albedo", {.low = 0, .high = 1}, "0.32");
  dust.g = reader.number("g", {.low = -1, .high = 1, .low_open = true, .high_open = true}, "0.73");
  reader.finish();
  return dust;
}

void read_shell(Reader& reader, Dataset& dataset) {
  dataset.inner_radius = reader.quantity("inner_radius", Dimension::length, non_negative, "0 cm");
  dataset.outer_radius = reader.quantity("outer_radius", Dimension::length, positive);
  if (dataset.inner_radius >= dataset.outer_radius) {
    reader.report("inner_radius", "must be less than outer_radius");
  }
  if (auto density = reader.optional("density")) dataset.density = read_density(*density);
  reader.elsewhere({"half_thickness"}, "type: slab");
}

void read_slab(Reader& reader, Dataset& dataset) {
  dataset.half_thickness = reader.quantity("half_thickness", Dimension::length, positive);
  reader.elsewhere({"inner_radius", "outer_radius", "density"}, "type: shell");
}

}  // namespace

Dataset read_dataset(Reader reader) {
  Dataset dataset;
  const auto type = reader.choice<DatasetType>("type", {{"shell", DatasetType::shell}, {"slab", DatasetType::slab}});
  if (type) dataset.type = *type;
  if (type == DatasetType::shell) read_shell(reader, dataset);
  if (type == DatasetType::slab) read_slab(reader, dataset);

  dataset.temperature = reader.quantity("temperature", Dimension::temperature, positive);
  dataset.b_turb =
      reader.quantity("b_turb", Dimension::velocity, {.low = 0, .high = constants::c, .high_open = true}, "0 km/s");
  const std::string amount = reader.exactly_one({"tau0", "column_density", "number_density"});
  if (amount == "tau0") dataset.tau0 = reader.number(amount, positive);
  if (amount == "column_density") {
    dataset.column_density = reader.quantity(amount, Dimension::column_density, positive);
  }
  if (amount == "number_density") {
    dataset.number_density = reader.quantity(amount, Dimension::number_density, positive);
  }
  if (auto velocity = reader.optional("velocity")) dataset.velocity = read_velocity(*velocity);
  if (reader.has("dust")) {
    if (auto dust = reader.optional("dust")) dataset.dust = read_dust(*dust);
  }
  dataset.step_limiter = reader.number("step_limiter", {.low = 0, .high = 1, .low_open = true}, "0.1");
  if (type) reader.finish();
  return dataset;
}

}  // namespace thor::config
