#include "thor/outputs/spectrum.hpp"

#include <cmath>

namespace thor {
namespace {

struct AxisUnits {
  const char* name;
  const char* unit;
  const char* flux_unit;
  double in_cgs;  ///< the unit of the file in cgs
  const char* meaning;
};

AxisUnits units_of(config::Axis axis) {
  switch (axis) {
    case config::Axis::x:
      return {"x", "", "erg s-1", 1, "dimensionless frequency (c/v_th) ln(nu/nu_0), positive to the blue"};
    case config::Axis::velocity:
      return {"velocity", "km s-1", "erg s-1 / (km s-1)", constants::km,
              "Doppler velocity c (lambda/lambda_0 - 1), positive to the red"};
    case config::Axis::wavelength:
      return {"wavelength", "Angstrom", "erg s-1 Angstrom-1", constants::angstrom, "vacuum wavelength"};
    case config::Axis::frequency:
      return {"frequency", "Hz", "erg s-1 Hz-1", 1, "frequency"};
  }
  return {};
}

const char* name_of(config::Fate fate) {
  switch (fate) {
    case config::Fate::escaped:
      return "escaped";
    case config::Fate::emitted:
      return "emitted";
    case config::Fate::absorbed:
      return "absorbed";
  }
  return "";
}

}  // namespace

Spectrum::Spectrum(const config::SpectrumOutput& output, const FrequencyAxis& axis)
    : output_(output), axis_(axis), sum_(output.bins), sum_squares_(output.bins) {}

void Spectrum::accept(const Photon& photon) {
  const bool emitted = output_.of == config::Fate::emitted;
  if (output_.of == config::Fate::escaped && photon.fate != Phase::escaped) return;
  if (output_.of == config::Fate::absorbed && photon.fate != Phase::absorbed) return;
  const double value = axis_.value(output_.axis, emitted ? photon.frequency_initial : photon.frequency_final);
  const double place = (value - output_.low) / (output_.high - output_.low) * double(output_.bins);
  if (place >= 0 && place < double(output_.bins)) {
    const auto bin = static_cast<std::size_t>(place);
    sum_[bin] += photon.weight;
    sum_squares_[bin] += photon.weight * photon.weight;
  } else {
    beyond_ += photon.weight;
  }
}

void Spectrum::merge(const Spectrum& other) {
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    sum_[i] += other.sum_[i];
    sum_squares_[i] += other.sum_squares_[i];
  }
  beyond_ += other.beyond_;
}

void Spectrum::write(io::File& file) const {
  const AxisUnits axis = units_of(output_.axis);
  const double low = output_.low / axis.in_cgs,
               width = (output_.high - output_.low) / axis.in_cgs / double(sum_.size());
  std::vector<double> edges(sum_.size() + 1), flux(sum_.size()), error(sum_.size());
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = low + double(i) * width;
  for (std::size_t i = 0; i < flux.size(); ++i) {
    flux[i] = sum_[i] / width;
    error[i] = std::sqrt(sum_squares_[i]) / width;
  }
  const std::string group = "/spectra/" + output_.name;
  file.write(group + "/edges", edges, axis.unit, std::string("bin edges: ") + axis.meaning);
  file.write(group + "/flux", flux, axis.flux_unit, "luminosity per unit of the axis");
  file.write(group + "/error", error, axis.flux_unit, "Monte Carlo standard error of flux");
  file.attribute(group, "axis", std::string(axis.name));
  file.attribute(group, "of", std::string(name_of(output_.of)));
  file.attribute(group, "luminosity_beyond", beyond_);
}

}  // namespace thor
