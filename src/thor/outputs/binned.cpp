#include "thor/outputs/binned.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "thor/io/array/output.hpp"
#include "thor/outputs/trust.hpp"

namespace thor {

double in_rest_frame(config::Axis axis, double value, double stretch) {
  if (axis == config::Axis::wavelength) return value / stretch;
  return axis == config::Axis::frequency ? value * stretch : value;
}

std::string meaning_of(config::Axis axis, double stretch) {
  std::string meaning = std::string("bin edges: ") + units_of(axis).meaning;
  if (stretch != 1 && axis == config::Axis::wavelength) meaning += ", observed: (1 + z) times that of the rest frame";
  if (stretch != 1 && axis == config::Axis::frequency) meaning += ", observed: that of the rest frame over (1 + z)";
  return meaning;
}

void write_bins(io::ArrayOutput& file, const std::string& group, const std::string& array,
                const std::vector<std::uint64_t>& shape, const std::string& unit, const std::string& meaning,
                BinnedLight light, const std::function<double(std::size_t)>& per) {
  std::vector<double>& values = light.light;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] /= per(i);
  file.write<double>(group + "/" + array, values, shape, unit, meaning);
  if (!light.has_errors()) return;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = light.error(i);
  file.write<double>(group + "/error", values, shape, unit, "Monte Carlo standard error");
  file.write<float>(group + "/vov", light.vov, shape, "",
                    "variance of the variance: the error is itself good to sqrt(vov)/2");
}

void write_attributes(io::ArrayOutput& file, const std::string& group, config::Fate of, const std::string& generator,
                      const FrequencyAxis& frequency, const BinnedLight& light, const Distances& distances) {
  const std::string photons = of == config::Fate::emitted ? "emitted" : fate_of(Phase(of)).name;
  file.attribute(group, "of", photons);
  file.attribute(group, "frame", std::string(units_of(distances).frame));
  if (!generator.empty()) file.attribute(group, "generator", generator);
  file.attribute(group, "wavelength0", frequency.wavelength / constants::angstrom);
  file.attribute(group, "luminosity", light.total);
  file.attribute(group, "luminosity_beyond", light.beyond);
  file.attribute(group, "error_method", std::string(light.has_errors() ? "histories" : "none"));
  if (!light.has_errors()) return;
  file.attribute(group, "luminosity_error", light.total_error);
  file.attribute(group, "trusted", trusted_share(light));
}

void write_attributes(io::ArrayOutput& file, const std::string& group, const config::Sight& sight,
                      const SkyFrame& sky) {
  file.attribute(group, "observer", sight.observer);
  const auto set = [&](const std::string& name, const double(&v)[3], double unit = 1) {
    file.attribute(group, name, std::vector<double>{v[0] * unit, v[1] * unit, v[2] * unit});
  };
  set("direction", sky.towards), set("right", sky.right), set("up", sky.up), set("centre", sky.centre);
  file.attribute(group, "zero_point",
                 std::string(sky.rest ? "light of the line that leaves rest_position with rest_velocity"
                                      : "light of the line at rest in the coordinates of the gas"));
  if (sky.rest) {
    set("rest_position", sky.rest_position);
    set("rest_velocity", sky.rest_velocity, sky.thermal_speed / constants::km);
  }
  file.attribute(group, "estimator", std::string(sky.escaped ? "escaped" : "peel"));
  if (sky.escaped) file.attribute(group, "within", sight.within * 180 / constants::pi);
  if (sight.psf) file.attribute(group, "psf_fwhm", sight.psf->fwhm / units_of(sky.distances).in_cm);
  if (sight.lsf) file.attribute(group, "lsf_fwhm", sight.lsf->fwhm / constants::km);
}

GeneratorRange OutputContext::range_of(const std::string& generator) const {
  if (generator.empty()) return {};
  const auto first = std::ranges::find(generators, generator) - generators.begin();
  return {int(first), int(first + std::ranges::count(generators, generator))};
}

SkyFrame OutputContext::sky(const config::Sight& sight) const {
  constexpr double sigma = 0.42466090014400953;  // of a Gaussian whose full width at half maximum is 1: 1/sqrt(8 ln 2)
  SkyFrame sky = sky_of(observers, sight.observer, size);
  for (std::size_t k = 0; k < 3; ++k) sky.centre[k] = sight.centre[k];
  sky.escaped = sight.estimator == config::Estimator::escaped;
  sky.cosine = std::cos(sight.within);
  if (sight.psf) sky.blur = sigma * sight.psf->fwhm;
  const double speed = axis("").thermal_speed;
  if (sight.lsf) sky.broadening = sigma * sight.lsf->fwhm / speed;
  sky.thermal_speed = speed;
  sky.seed = seed, sky.peak = peak;
  sky.distances = distances;
  for (std::size_t k = 0; k < 3; ++k) sky.box[k] = box[k];
  const auto named = [&](const config::Observer& o) { return o.name == sight.observer; };
  const auto observer = std::ranges::find_if(observers, named);
  if (observer == observers.end() || (!observer->rest && !(hubble > 0))) return sky;
  sky.rest = true;
  sky.hubble = hubble / speed;
  const config::Rest rest = observer->rest.value_or(config::Rest{sight.centre, {}});
  for (std::size_t k = 0; k < 3; ++k) {
    sky.rest_position[k] = rest.position[k];
    sky.rest_velocity[k] = rest.velocity[k] / speed;
  }
  return sky;
}

}  // namespace thor
