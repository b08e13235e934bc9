#include "thor/outputs/binned.hpp"

#include <fmt/format.h>

#include "thor/io/array/output.hpp"

namespace thor {

void write_attributes(io::ArrayOutput& file, const std::string& group, config::Fate of, const FrequencyAxis& frequency,
                      const BinnedLight& light) {
  const std::string photons = of == config::Fate::emitted ? "emitted" : fate_of(Phase(of)).name;
  file.attribute(group, "of", photons);
  file.attribute(group, "wavelength0", frequency.wavelength / constants::angstrom);
  file.attribute(group, "luminosity_beyond", light.beyond);
  file.attribute(group, "error_method", light.error_method);
}

void write_attributes(io::ArrayOutput& file, const std::string& group, const std::string& observer,
                      const SkyFrame& sky) {
  file.attribute(group, "observer", observer);
  const auto set = [&](const std::string& name, const double(&v)[3]) {
    file.attribute(group, name, fmt::format("{:.17g} {:.17g} {:.17g}", v[0], v[1], v[2]));
  };
  set("direction", sky.towards), set("right", sky.right), set("up", sky.up), set("centre", sky.centre);
}

SkyFrame OutputContext::sky(const std::string& observer, const std::array<double, 3>& centre) const {
  SkyFrame sky = sky_of(observers, observer, size);
  for (std::size_t k = 0; k < 3; ++k) sky.centre[k] = centre[k];
  return sky;
}

}  // namespace thor
