#include "thor/outputs/binned.hpp"

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

}  // namespace thor
