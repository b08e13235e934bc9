#include <algorithm>

#include "thor/config/sections.hpp"
#include "thor/core/constants.hpp"

namespace thor::config {
namespace {

bool is_name(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

void read_axis(Reader& reader, SpectrumOutput& output) {
  const auto axis = reader.choice<Axis>(
      "axis",
      {{"x", Axis::x}, {"velocity", Axis::velocity}, {"wavelength", Axis::wavelength}, {"frequency", Axis::frequency}},
      "velocity");
  if (!axis) {
    reader.has("range");
    return;
  }
  output.axis = *axis;
  const auto interval = [&](Dimension dimension, Bounds bounds) {
    const auto [low, high] = reader.interval("range", dimension, bounds);
    output.low = low;
    output.high = high;
  };
  switch (*axis) {
    case Axis::x:
      interval(Dimension::none, anything);
      break;
    case Axis::velocity:
      interval(Dimension::velocity, anything);
      break;
    case Axis::wavelength:
      interval(Dimension::wavelength, positive);
      break;
    case Axis::frequency:
      interval(Dimension::frequency, positive);
      break;
  }
}

void read_spectrum(Reader& reader, Config& config) {
  const std::string expected = "a name of letters, digits, _ and -";
  SpectrumOutput output;
  output.name = reader.text("name", expected);
  if (reader.has("name") && !is_name(output.name)) reader.report("name", "expected " + expected);
  for (const auto& other : config.spectra) {
    if (!output.name.empty() && other.name == output.name) {
      reader.report("name", "two outputs are called \"" + output.name + "\"");
    }
  }
  output.of =
      reader
          .choice<Fate>("of", {{"escaped", Fate::escaped}, {"emitted", Fate::emitted}, {"absorbed", Fate::absorbed}},
                        "escaped")
          .value_or(Fate::escaped);
  read_axis(reader, output);
  output.bins = reader.integer("bins", 1, 10'000'000);
  reader.elsewhere({"fields"}, "type: photons");
  reader.finish();
  config.spectra.push_back(output);
}

void read_photons(Reader& reader, Config& config) {
  if (config.photons) reader.report("type", "only one output of type photons is possible");
  using enum PhotonField;
  config.photons.emplace().fields = reader.choices<PhotonField>("fields", {{"id", id},
                                                                           {"weight", weight},
                                                                           {"velocity_initial", velocity_initial},
                                                                           {"velocity_final", velocity_final},
                                                                           {"position", position},
                                                                           {"direction", direction},
                                                                           {"scatterings", scatterings},
                                                                           {"column", column}});
  reader.elsewhere({"name", "of", "axis", "range", "bins"}, "type: spectrum");
  reader.finish();
}

}  // namespace

void read_outputs(std::vector<Reader> readers, Config& config) {
  enum class Type { spectrum, photons };
  for (Reader& reader : readers) {
    const auto type = reader.choice<Type>("type", {{"spectrum", Type::spectrum}, {"photons", Type::photons}});
    if (type == Type::spectrum) read_spectrum(reader, config);
    if (type == Type::photons) read_photons(reader, config);
  }
}

}  // namespace thor::config
