#include "thor/outputs/tally.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/error.hpp"

namespace thor {
namespace {

/// The cells of one thread.
struct PlainCells {
  std::uint64_t* cells;
  void add(int i, std::uint64_t value) const { cells[i] += value; }
  void raise(int i, std::uint64_t value) const { cells[i] = std::max(cells[i], value); }
};

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

std::string name_of(config::Fate fate) { return fate == config::Fate::emitted ? "emitted" : fate_of(Phase(fate)).name; }

}  // namespace

Tally::Tally(const std::vector<config::SpectrumOutput>& spectra,
             const std::function<FrequencyAxis(const std::string&)>& axis, double luminosity, double luminosity_squared,
             int generators)
    : generators_(generators),
      quantum_(std::ldexp(luminosity, -62)),
      quantum_squared_(std::ldexp(luminosity_squared, -62)) {
  int cells = cell_of(generators, GeneratorCounter(0));
  for (const auto& s : spectra) {
    names_.push_back(s.name);
    spectra_.push_back({axis(s.reference), s.axis, s.of, s.low, s.high, int(s.bins), cells});
    cells += spectra_.back().cells();
  }
  cells_.resize(std::size_t(cells));
}

TallyPlan Tally::plan() const {
  return {1 / quantum_, 1 / quantum_squared_, spectra_.data(), int(spectra_.size()), int(cells_.size())};
}

void Tally::start(double weight, double left, int generator) {
  count_start(plan(), weight, left, generator, PlainCells{cells_.data()});
}

void Tally::accept(const Photon& photon) { count_end(plan(), photon, PlainCells{cells_.data()}); }

void Tally::merge(const std::uint64_t* cells, int copies) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    for (int c = 0; c < copies; ++c) {
      const std::uint64_t value = cells[i * std::size_t(copies) + std::size_t(c)];
      cells_[i] = i == std::size_t(Counter::longest) ? std::max(cells_[i], value) : cells_[i] + value;
    }
  }
}

void Tally::clear() { std::ranges::fill(cells_, 0); }

std::uint64_t Tally::photons() const { return std::accumulate(cells_.begin(), cells_.begin() + fate_count, 0ull); }

bool Tally::conserves() const {
  const auto light = cells_.begin() + int(Counter::light_escaped);
  return photons() == (*this)[Counter::started] &&
         (*this)[Counter::light_emitted] ==
             std::accumulate(light, light + fate_count, (*this)[Counter::light_unresolved]);
}

double Tally::error() const {
  if (spectra_.empty()) {
    const auto escaped = double((*this)[Counter::escaped]), all = double(photons() - (*this)[Counter::in_flight]);
    return escaped > 0 ? std::sqrt((1 - escaped / all) / escaped) : 0;
  }
  const SpectrumBins& s = spectra_.front();
  const std::uint64_t* sum = cells_.data() + s.first + 1;
  double flux = 0, error = 0;
  for (int i = 0; i < s.bins; ++i) {
    flux += double(sum[i]) * quantum_;
    error += std::sqrt(double(sum[s.bins + i]) * quantum_squared_);
  }
  return flux > 0 ? error / flux : 0;
}

std::vector<SpectrumLight> Tally::light_of_spectra() const {
  std::vector<SpectrumLight> list;
  for (std::size_t i = 0; i < spectra_.size(); ++i) {
    const SpectrumBins& s = spectra_[i];
    const std::uint64_t* sum = cells_.data() + s.first + 1;
    list.push_back({names_[i], s.of, double(std::accumulate(sum, sum + s.bins, std::uint64_t{0})) * quantum_,
                    double(cells_[std::size_t(s.first)]) * quantum_});
  }
  return list;
}

void Tally::write(io::File& file) const {
  const auto set = [&](const std::string& name, auto value) { file.attribute("/summary", name, value); };
  set("photons", photons());
  for (int i = 0; i < fate_count; ++i) set(fates[i].name, (*this)[Counter(i)]);
  set("scatterings", (*this)[Counter::scatterings]);
  set("longest", (*this)[Counter::longest]);
  set("steps", (*this)[Counter::steps]);
  set("luminosity_emitted", light(Counter::light_emitted));
  set("luminosity_unresolved", light(Counter::light_unresolved));
  const auto name_of_light = [](int fate) { return std::string("luminosity_") + fates[fate].name; };
  for (int i = 0; i < fate_count; ++i) {
    set(name_of_light(i), light(Counter(int(Counter::light_escaped) + i)));
  }
  for (int g = 0; g < generators_; ++g) {
    const std::string group = "/generators/" + std::to_string(g);
    const auto set_light = [&](const std::string& name, GeneratorCounter c) {
      file.attribute(group, name, light(g, c));
    };
    file.attribute(group, "photons", cells_[std::size_t(cell_of(g, GeneratorCounter::started))]);
    set_light("luminosity_emitted", GeneratorCounter::light_emitted);
    set_light("luminosity_unresolved", GeneratorCounter::light_unresolved);
    for (int i = 0; i < fate_count; ++i) {
      set_light(name_of_light(i), GeneratorCounter(int(GeneratorCounter::light_escaped) + i));
    }
  }
  for (std::size_t i = 0; i < spectra_.size(); ++i) write_spectrum(file, names_[i], spectra_[i]);
}

double Tally::light(int generator, GeneratorCounter c) const {
  return double(cells_[std::size_t(cell_of(generator, c))]) * quantum_;
}

void Tally::write_spectrum(io::File& file, const std::string& name, const SpectrumBins& s) const {
  const AxisUnits axis = units_of(s.axis);
  const auto bins = std::size_t(s.bins);
  const double low = s.low / axis.in_cgs, width = (s.high - s.low) / axis.in_cgs / double(s.bins);
  const std::uint64_t* sum = cells_.data() + s.first + 1;
  const std::uint64_t* sum_squares = sum + s.bins;
  std::vector<double> edges(bins + 1), flux(bins), error(bins);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = low + double(i) * width;
  for (std::size_t i = 0; i < bins; ++i) {
    flux[i] = double(sum[i]) * quantum_ / width;
    error[i] = std::sqrt(double(sum_squares[i]) * quantum_squared_) / width;
  }
  const std::string group = "/spectra/" + name;
  file.write(group + "/edges", edges, axis.unit, std::string("bin edges: ") + axis.meaning);
  file.write(group + "/flux", flux, axis.flux_unit, "luminosity per unit of the axis");
  file.write(group + "/error", error, axis.flux_unit, "Monte Carlo standard error of flux: that of a weighted count");
  file.attribute(group, "axis", std::string(axis.name));
  file.attribute(group, "of", name_of(s.of));
  file.attribute(group, "wavelength0", s.frequency.wavelength / constants::angstrom);
  file.attribute(group, "luminosity_beyond", double(cells_[std::size_t(s.first)]) * quantum_);
}

}  // namespace thor
