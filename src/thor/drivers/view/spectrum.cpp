#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/drivers/view/view.hpp"

/// Absorption along a ray that somebody has pointed at.
namespace thor {
namespace {

/// The gas along a ray that absorbs, in cgs.
struct AbsorbingGas {
  double begin = 0, length = 0;  ///< of the ray in the gas, in units of the dataset
  double coldest = HUGE_VAL;     ///< [K]
  double low = 0, high = 0;      ///< velocities between which most of the light is absorbed
};

/// Follows the ray and finds which velocities are of interest.
AbsorbingGas find_gas(ViewScene& view, const StraightRay& ray, const Line& line, const Absorber& ion) {
  using constants::km;
  const GasOutline& outline = view.scene().outline();
  Quantities quantities{};
  quantities.count = 3;
  quantities.quantity[0] = ion.density.quantity, quantities.quantity[1] = ion.temperature.quantity;
  quantities.quantity[2] = ion.velocity.quantity;
  const RayRun run = view.engine().record(ray, quantities);
  if (run.begins.empty()) throw Error(ExitCode::usage, "px, py: the sightline does not meet the gas");
  AbsorbingGas gas;
  gas.begin = run.begins.front();
  gas.length = run.begins.back() + run.lengths.back() - gas.begin;
  const AtomicTransition& first = line.first();
  const double hubble = outline.hubble;
  double column = 0, low = HUGE_VAL, high = -HUGE_VAL, widest = 0;
  for (std::size_t i = 0; i < run.begins.size(); ++i) {
    const double n = double(run.values[0][i]) * ion.density.unit;
    const double temperature = double(run.values[1][i]) * ion.temperature.unit;
    if (!(n > 0) || !(temperature > 0)) continue;
    gas.coldest = std::min(gas.coldest, temperature);
    const double b = first.thermal_speed(temperature, view.scene().b_turb());
    const double cells = n * run.lengths[i] * outline.length;
    column += cells;
    if (cells * first.cross_section(b) < 1e-4) continue;
    const double begin = (run.begins[i] - gas.begin) * outline.length, end = begin + run.lengths[i] * outline.length;
    const double v = double(run.values[2][i]) * ion.velocity.unit;
    low = std::min(low, v + hubble * begin), high = std::max(high, v + hubble * end), widest = std::max(widest, b);
  }
  if (low > high) low = 0, high = hubble * gas.length * outline.length;
  for (const AtomicTransition* t : line.absorbing()) {
    const double shift = constants::c * std::log(t->wavelength / first.wavelength);
    gas.low = std::min(gas.low, low + shift), gas.high = std::max(gas.high, high + shift);
  }
  gas.low = std::min(gas.low, low);
  // The damping wings are N sigma_0 a b^2/(sqrt(pi) v^2), and fade at an optical depth of 0.05.
  const double wing = column * first.cross_section(1) * first.voigt_parameter(1) / (0.05 * std::sqrt(std::numbers::pi));
  const double margin = std::clamp(std::sqrt(wing), std::max(6 * widest, 50 * km), 2e4 * km);
  gas.low -= margin, gas.high += margin;
  if (!std::isfinite(gas.coldest)) gas.coldest = 1e4;  // there is none
  return gas;
}

}  // namespace

io::web::Response view_spectrum(ViewScene& view, const ViewStart& start, ViewQuery& query) {
  using constants::c, constants::km, constants::angstrom;
  const config::Camera camera = view_camera(view, start, query);
  const std::string name = query.text("line", view.config().line);
  config::AbsorptionOperator op;
  op.line = name, op.density_field = query.text("density_field", "");
  op.bins = std::uint64_t(query.integer("bins", 800, 16, 8192));
  const auto x = query.number("px", 0, double(camera.pixels)), y = query.number("py", 0, double(camera.rows));
  const auto low = query.number("low", -3e5, 3e5), high = query.number("high", -3e5, 3e5);
  query.end();
  if (!x || !y)
    throw Error(ExitCode::usage, "px, py: give the point of the picture, in pixels from its upper left corner");
  const Line line = line_of_rays(view.config(), name, "line");
  RayScene& scene = view.scene();
  const Absorber ion = scene.absorber(line, op.density_field);
  const Camera built = build_camera(camera, scene.outline());
  StraightRay ray = camera_ray(built, *x, double(camera.rows) - *y);
  const AbsorbingGas gas = find_gas(view, ray, line, ion);
  if (gas.length * scene.outline().length > 1e30)
    throw Error(ExitCode::usage, "px, py: the sightline never leaves the gas");
  for (std::size_t k = 0; k < 3; ++k) ray.position[k] += gas.begin * ray.direction[k];  // the Hubble flow begins there
  ray.from = 0, ray.to = gas.length;
  op.low = low ? *low * km : gas.low, op.high = high ? *high * km : gas.high;
  if (!(op.high > op.low)) throw Error(ExitCode::usage, "low, high: expected low < high");
  const AbsorptionPlan plan = op.plan(line, scene, gas.coldest, gas.length * scene.outline().length, "spectrum");
  const std::size_t fine = std::size_t(plan.oversampling);
  std::vector<float> depths(std::size_t(plan.absorption.bins));
  double column = 0;
  view.engine().follow({{ray}, {0, 1}}, SightlineJob(plan.absorption), depths, {&column, 1});

  nlohmann::ordered_json json;
  std::vector<double> velocity, flux, tau;
  double width = 0;
  for (std::size_t b = 0; b < op.bins; ++b) {
    double mean_depth = 0, mean_flux = 0;
    for (std::size_t k = b * fine; k < (b + 1) * fine; ++k) {
      mean_depth += double(depths[k]) / double(fine), mean_flux += std::exp(-double(depths[k])) / double(fine);
    }
    velocity.push_back(0.5 * (plan.edges[b] + plan.edges[b + 1]) / km);
    flux.push_back(mean_flux), tau.push_back(mean_depth);
    width +=
        (1 - mean_flux) * plan.wavelength0 * (std::exp(plan.edges[b + 1] / c) - std::exp(plan.edges[b] / c)) / angstrom;
  }
  const double to_kpc = scene.outline().length / (1e3 * constants::pc);
  std::array<double, 3> begin{}, end{};
  for (std::size_t k = 0; k < 3; ++k) {
    begin[k] = ray.position[k] * to_kpc, end[k] = (ray.position[k] + gas.length * ray.direction[k]) * to_kpc;
  }
  json["line"] = line.name, json["wavelength0"] = plan.wavelength0 / angstrom;
  json["column_density"] = column, json["equivalent_width"] = width;
  json["begin"] = begin, json["end"] = end, json["length"] = gas.length * to_kpc;
  json["units"] = {
      {"velocity", "km s-1"}, {"column_density", "cm-2"}, {"equivalent_width", "Angstrom"}, {"length", "kpc"}};
  json["velocity"] = velocity, json["flux"] = flux, json["tau"] = tau;
  return {200, "application/json", json.dump() + "\n"};
}

}  // namespace thor
