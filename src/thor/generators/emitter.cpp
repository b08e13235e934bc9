#include "thor/generators/emitter.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"

namespace thor {
namespace {

/// c ln(nu/nu_0) of a Doppler velocity [cm/s].
double log_velocity(double v) { return -constants::c * std::log1p(v / constants::c); }

/// Wavelengths or velocities c (lambda/lambda_ref - 1) as c (lambda/lambda_0 - 1).
struct Doppler {
  double reference, first;  ///< wavelengths
  bool is_velocity;
  double operator()(double value) const {
    const double wavelength = is_velocity ? reference * (1 + value / constants::c) : value;
    return is_velocity && reference == first ? value : constants::c * (wavelength / first - 1);
  }
};

void set_spectrum(Source<double>& s, const config::Spectrum& spectrum, const Medium& medium, const Line& line,
                  const Refuse& refuse, const std::string& key) {
  const double unit = medium.thermal_speed;
  const AtomicTransition* reference = spectrum.reference.empty() ? &line.first() : line.find(spectrum.reference);
  if (!reference) {
    refuse(key + ".spectrum.reference", unknown_transition(line, spectrum.reference));
    return;
  }
  const double first = line.first().wavelength;
  const Doppler doppler{reference->wavelength, first, spectrum.range.is_velocity};
  const double low = doppler(spectrum.range.low), high = doppler(spectrum.range.high);
  s.light_speed = constants::c / unit;
  s.centre = (log_velocity(spectrum.offset) + constants::c * std::log(first / reference->wavelength)) / unit;
  s.width = spectrum.sigma / unit;
  s.range[0] = low / unit;
  s.range[1] = high / unit;
  switch (spectrum.type) {
    case config::SpectrumType::delta:
      s.spectrum = SourceSpectrum::delta;
      break;
    case config::SpectrumType::gaussian:
      s.spectrum = SourceSpectrum::gaussian;
      break;
    case config::SpectrumType::thermal:
      s.spectrum = SourceSpectrum::gaussian;
      s.width = reference->thermal_speed(spectrum.temperature, 0) / std::sqrt(2.) / unit;
      if (s.width * unit > 0.1 * constants::c) {
        refuse(key + ".spectrum.temperature", "atoms this hot move at more than a tenth of the speed of light");
      }
      break;
    case config::SpectrumType::continuum:
      s.spectrum = SourceSpectrum::continuum;
      break;
    case config::SpectrumType::line_and_continuum: {
      s.spectrum = SourceSpectrum::line_and_continuum;
      const double width = first * (high - low) / constants::c;
      s.line_share = spectrum.equivalent_width / (spectrum.equivalent_width + width);
      break;
    }
  }
}

void set_place(Source<double>& s, const config::Generator& g, const Medium& medium, const Refuse& refuse,
               const std::string& key) {
  const bool slab = std::holds_alternative<Slab<double>>(medium.dataset);
  for (int i = 0; i < 3; ++i) {
    s.position[i] = g.position[i] / medium.size;
    s.velocity[i] = g.velocity[i] / medium.thermal_speed;
    s.direction[i] = g.direction[i];
  }
  s.radius = g.radius / medium.size;
  if (g.type == config::GeneratorType::point) {
    s.shape = SourceShape::point;
    const Vec3<double> p{s.position[0], s.position[1], s.position[2]};
    const int cell = std::visit([&](const auto& data) { return view<double>(data).locate(p); }, medium.dataset);
    if (cell == outside) {
      refuse(key + ".position",
             "the source lies outside the gas; move it inside, or use an extended source of shape beam");
    }
    return;
  }
  switch (g.shape) {
    case config::Shape::medium:
      s.shape = SourceShape::medium;
      break;
    case config::Shape::surface:
      s.shape = SourceShape::surface;
      break;
    case config::Shape::beam:
      s.shape = SourceShape::beam;
      if (slab && std::abs(s.direction[2]) < 1e-6) {
        refuse(key + ".direction", "a beam along the slab never meets it; give it a z component");
      }
      // Upstream of the sphere, or of the slab's near face even at the edge of a tilted beam.
      s.distance = slab ? (2 + s.radius) / std::abs(s.direction[2]) : 2;
      break;
  }
}

}  // namespace

Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse) {
  Emitter<double> emitter{seed, {}, {}, {}};
  for (std::size_t i = 0; i < generators.size(); ++i) {
    const config::Generator& g = generators[i];
    Source<double> s{};
    const std::string key = "generators." + std::to_string(i);
    set_place(s, g, medium, refuse, key);
    set_spectrum(s, g.spectrum, medium, line, refuse, key);
    emitter.sources.push_back(s);
    emitter.end.push_back(emitter.count() + g.photons);
    emitter.weight.push_back(g.luminosity / double(g.photons));
  }
  const double luminosity = emitter.luminosity();
  if (!(luminosity > 1e-100 && luminosity < 1e100)) {
    refuse("generators", "all luminosities together must lie between 1e-100 and 1e100 erg/s");
  }
  // A tally counts squares of weights in 2^-62 of their sum: less than 1e3 of that would be too coarse for an error.
  const double faintest = *std::ranges::min_element(emitter.weight);
  if (faintest * faintest < 1e3 * 0x1p-62 * emitter.luminosity_squared()) {
    warning(
        "a photon of the faintest generator is {:.1g} of one of the brightest: the errors of bins that hold such "
        "photons "
        "only are not resolved. Give the faint one fewer photons.",
        faintest / *std::ranges::max_element(emitter.weight));
  }
  return emitter;
}

template <class Real>
double Emitter<Real>::luminosity() const {
  double sum = 0;
  for (std::size_t i = 0; i < end.size(); ++i) sum += weight[i] * double(end[i] - (i ? end[i - 1] : 0));
  return sum;
}
template <class Real>
double Emitter<Real>::luminosity_squared() const {
  double sum = 0;
  for (std::size_t i = 0; i < end.size(); ++i) sum += weight[i] * weight[i] * double(end[i] - (i ? end[i - 1] : 0));
  return sum;
}

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter) {
  Emitter<Real> r{emitter.seed, {}, emitter.end, emitter.weight};
  for (const Source<double>& s : emitter.sources) {
    Source<Real> t{};
    t.shape = s.shape, t.spectrum = s.spectrum;
    for (int i = 0; i < 3; ++i) {
      t.position[i] = Real(s.position[i]), t.direction[i] = Real(s.direction[i]), t.velocity[i] = Real(s.velocity[i]);
    }
    t.radius = Real(s.radius), t.distance = Real(s.distance);
    t.centre = Real(s.centre), t.width = Real(s.width), t.line_share = Real(s.line_share);
    t.range[0] = Real(s.range[0]), t.range[1] = Real(s.range[1]), t.light_speed = Real(s.light_speed);
    r.sources.push_back(t);
  }
  return r;
}
template struct Emitter<float>;
template struct Emitter<double>;
template Emitter<float> convert(const Emitter<double>&);
template Emitter<double> convert(const Emitter<double>&);

}  // namespace thor
