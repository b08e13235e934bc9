#include "thor/drivers/mcrt/sky.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/message.hpp"
#include "thor/io/array/input.hpp"
#include "thor/math/vec3.hpp"

namespace thor {

void check_cosmology(const config::Config& config, const Refuse& refuse) {
  if (!config.sky || !config.sky->redshift || config.dataset.path.empty()) return;
  const io::Input file(config.dataset.path);
  const double redshift = file.number("/", "redshift").value_or(0), hubble = file.number("/", "hubble").value_or(0);
  if (!(hubble > 0)) return;
  const config::Sky& sky = *config.sky;
  const double expected = Cosmology{sky.hubble, sky.omega_m, 1 - sky.omega_m}.hubble(redshift);
  if (std::abs(hubble / expected - 1) < 0.01) return;
  const double unit = constants::km / (1e3 * cm_per_kpc);
  refuse("sky", fmt::format("the grid {} has H(z = {:g}) = {:.4g} km/s/Mpc, but sky.hubble = {:g} and sky.omega_m = "
                            "{:g} give {:.4g}: use the values of the simulation",
                            config.dataset.path, redshift, hubble / unit, sky.hubble, sky.omega_m, expected / unit));
}

void check_frame(const config::Config& config, config::Axis axis, double low, double high, const Line& line,
                 const std::string& key, const Refuse& refuse) {
  const bool waves = axis == config::Axis::wavelength;
  const double stretch = distances_of_outputs(config.sky).stretch(), factor = waves ? stretch : 1 / stretch;
  if (stretch == 1 || (!waves && axis != config::Axis::frequency)) return;
  const auto has = [&](double times) {
    return std::ranges::any_of(line.transitions, [&](const AtomicTransition& t) {
      const double value = times * (waves ? t.wavelength : constants::c / t.wavelength);
      return value >= low && value <= high;
    });
  };
  if (has(factor) || !has(1)) return;
  const AxisUnits unit = units_of(axis);
  refuse(key, fmt::format("the line is in it at rest, but with `sky` it is a range of observed {}, {:.6g} times as {}: "
                          "take [{:.8g} {}, {:.8g} {}], or set sky.frame: rest",
                          waves ? "wavelengths" : "frequencies", factor, waves ? "long" : "high",
                          low * factor / unit.in_cgs, unit.unit, high * factor / unit.in_cgs, unit.unit));
}

namespace {

void warn_of_redshift(const config::Config& config, const Setup& setup) {
  if (!config.sky || !setup.medium.mesh) return;
  const double redshift = distances_of(config.sky).redshift, own = setup.medium.redshift;
  if (!(own > 0) || std::abs((1 + redshift) / (1 + own) - 1) < 0.01) return;
  warning(
      "sky: the grid has redshift {:g} but is observed at {:g}. Set sky.redshift to that of the grid if this is not "
      "intended.",
      own, redshift);
}

/// Whether an output shows what an observer sees.
bool is_shown(const config::Config& config, const config::Observer& observer) {
  if (config.peeled && config.peeled->observer == observer.name) return true;
  return std::ranges::any_of(config.outputs, [&](const AnyOutput& any) {
    return std::visit(
        [&](const auto& output) {
          if constexpr (requires { output.sight; }) return output.sight.observer == observer.name;
          return false;
        },
        any);
  });
}

/// Whether an output shows escaped light of a generator that an observer sees by rays.
bool sees_by_rays(const config::Config& config, const config::Observer& observer, const config::Generator& generator) {
  if (config.peeled && config.peeled->observer == observer.name) return true;
  return std::ranges::any_of(config.outputs, [&](const AnyOutput& any) {
    return std::visit(
        [&](const auto& output) {
          if constexpr (requires { output.sight; }) {
            return output.sight.observer == observer.name && output.sight.estimator == config::Estimator::peel &&
                   output.of == config::Fate::escaped &&
                   (output.generator.empty() || output.generator == generator.name);
          }
          return false;
        },
        any);
  });
}

/// Parallel light has no density in direction, so that no ray at its birth goes to an observer.
void warn_of_parallel_beams(const config::Config& config) {
  std::string first;
  int more = -1;
  for (const config::Observer& o : config.observers) {
    for (std::size_t i = 0; i < config.generators.size(); ++i) {
      const config::Generator& g = config.generators[i];
      const bool beam = g.type == config::GeneratorType::extended && g.shape == config::SourceShape::beam;
      if (!beam || g.opening_angle > 0) continue;
      const Vec3<double> n{o.direction[0], o.direction[1], o.direction[2]};
      const Vec3<double> axis{g.direction[0], g.direction[1], g.direction[2]};
      if (dot(n, axis) < 0.9998 * std::sqrt(dot(n, n)) || !sees_by_rays(config, o, g)) continue;  // 1 deg
      if (++more == 0) first = fmt::format("observer {} looks down the parallel beam of generators.{}", o.name, i);
    }
  }
  if (more < 0) return;
  warning(
      "{}{}: the direct light of the beam is missing. Give the beam an `opening_angle`, or the output `estimator: "
      "escaped`.",
      first, more > 0 ? fmt::format(" (and {} more)", more) : "");
}

}  // namespace

void warn_of_sky(const config::Config& config, const Setup& setup) {
  warn_of_redshift(config, setup);
  for (const config::Observer& o : config.observers) {
    const bool of_set = o.name.find('.') != std::string::npos;
    if (!of_set && !is_shown(config, o))
      warning("observer {}: no output uses it. Add one with `observer: NAME`, or remove it.", o.name);
  }
  warn_of_parallel_beams(config);
}

}  // namespace thor
