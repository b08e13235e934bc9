#include <cmath>

#include "thor/config/sections.hpp"
#include "thor/core/constants.hpp"

namespace thor::config {
namespace {

constexpr Bounds wavelength_shift{.low = -constants::c, .low_open = true};  // lambda > 0
constexpr Bounds width{.low = 0, .high = constants::c, .low_open = true, .high_open = true};

SpectralRange read_range(Reader& reader) {
  const Dimension dimension = reader.dimension("range");
  const bool is_velocity = dimension != Dimension::wavelength;
  if (reader.has("range") && is_velocity && dimension != Dimension::velocity) {
    reader.report("range",
                  "expected two velocities such as [-2000 km/s, 2000 km/s] or two wavelengths such "
                  "as [1210 Angstrom, 1220 Angstrom]");
    return {};
  }
  const auto [low, high] = is_velocity ? reader.interval("range", Dimension::velocity, wavelength_shift)
                                       : reader.interval("range", Dimension::wavelength, positive);
  return {low, high, is_velocity};
}

Spectrum read_spectrum(Reader reader) {
  Spectrum spectrum;
  using enum SpectrumType;
  const auto type = reader.choice<SpectrumType>("type",
                                                {{"delta", delta},
                                                 {"gaussian", gaussian},
                                                 {"thermal", thermal},
                                                 {"continuum", continuum},
                                                 {"line_and_continuum", line_and_continuum}},
                                                "delta");
  if (!type) return spectrum;
  spectrum.type = *type;
  const bool is_mixed = *type == line_and_continuum;
  if (*type == gaussian || is_mixed) {
    spectrum.sigma = reader.quantity("sigma", Dimension::velocity, width);
  }
  if (*type == thermal) {
    spectrum.temperature = reader.quantity("temperature", Dimension::temperature, positive);
  }
  if (is_mixed) {
    spectrum.equivalent_width = reader.quantity("equivalent_width", Dimension::length, positive);
  }
  if (*type == continuum || is_mixed) spectrum.range = read_range(reader);
  if (*type == delta || *type == gaussian || is_mixed) {
    spectrum.offset = reader.quantity("offset", Dimension::velocity, wavelength_shift, "0 km/s");
  }
  reader.elsewhere({"sigma"}, "type: gaussian and type: line_and_continuum");
  reader.elsewhere({"temperature"}, "type: thermal");
  reader.elsewhere({"equivalent_width"}, "type: line_and_continuum");
  reader.elsewhere({"range"}, "type: continuum and type: line_and_continuum");
  reader.elsewhere({"offset"}, "type: delta, type: gaussian and type: line_and_continuum");
  reader.finish();
  return spectrum;
}

std::array<double, 3> read_direction(Reader& reader) {
  const auto d = reader.vector("direction", Dimension::none, anything, {"0", "0", "1"});
  const double largest = std::fmax(std::fmax(std::fabs(d[0]), std::fabs(d[1])), std::fabs(d[2]));
  if (largest == 0) reader.report("direction", "must not be [0, 0, 0]");
  const double norm = std::hypot(d[0] / largest, d[1] / largest, d[2] / largest);
  return {d[0] / largest / norm, d[1] / largest / norm, d[2] / largest / norm};
}

/// Whether the shape is one we know.
bool read_extended(Reader& reader, Generator& generator) {
  const auto shape =
      reader.choice<Shape>("shape", {{"medium", Shape::medium}, {"surface", Shape::surface}, {"beam", Shape::beam}});
  if (!shape) return false;
  generator.shape = *shape;
  if (*shape == Shape::beam) generator.direction = read_direction(reader);
  if (*shape != Shape::medium) {
    generator.radius = reader.quantity("radius", Dimension::length, positive);
  }
  return true;
}

}  // namespace

Generator read_generator(Reader reader) {
  Generator generator;
  const auto type =
      reader.choice<GeneratorType>("type", {{"point", GeneratorType::point}, {"extended", GeneratorType::extended}});
  if (type) generator.type = *type;
  bool complete = type.has_value();
  if (type == GeneratorType::point) {
    generator.position = reader.vector("position", Dimension::length, anything, {"0 kpc", "0 kpc", "0 kpc"});
  }
  if (type == GeneratorType::extended) complete = read_extended(reader, generator);
  generator.velocity = reader.vector("velocity", Dimension::velocity, below_light, {"0 km/s", "0 km/s", "0 km/s"});
  generator.photons = reader.integer("photons", 1, std::uint64_t{1} << 62);
  generator.luminosity = reader.quantity("luminosity", Dimension::luminosity, positive, "1 erg/s");
  if (auto spectrum = reader.optional("spectrum")) generator.spectrum = read_spectrum(*spectrum);
  reader.elsewhere({"position"}, "type: point");
  reader.elsewhere({"shape"}, "type: extended");
  reader.elsewhere({"radius"}, "shape: surface and shape: beam");
  reader.elsewhere({"direction"}, "shape: beam");
  if (complete) reader.finish();
  return generator;
}

}  // namespace thor::config
