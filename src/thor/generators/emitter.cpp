#include "thor/generators/emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"
#include "thor/generators/gas_lists.hpp"
#include "thor/generators/source_list.hpp"

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

/// The transitions that absorb, by their oscillator strengths.
void set_members(Source<double>& s, const MediumOutline& medium, const Line& line) {
  const auto absorbing = line.absorbing();
  if (absorbing.size() < 2) return;
  double sum = 0;
  for (const AtomicTransition* t : absorbing) sum += t->population * t->oscillator_strength;
  double before = 0;
  for (const AtomicTransition* t : absorbing) {
    before += t->population * t->oscillator_strength / sum;
    s.member[s.members] = constants::c * std::log(line.first().wavelength / t->wavelength) / medium.thermal_speed;
    s.share[s.members++] = before;
  }
  s.share[s.members - 1] = 2;  // takes what rounding leaves
}

void set_spectrum(Source<double>& s, const config::Spectrum& spectrum, const MediumOutline& medium, const Line& line,
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
    case config::SpectrumType::lorentzian:
      s.spectrum = SourceSpectrum::lorentzian;
      s.width = spectrum.hwhm.value_or(reference->damping * reference->wavelength / (4 * M_PI)) / unit;
      s.tail = 2 / M_PI * std::atan(s.width * unit / (0.1 * constants::c));
      break;
    case config::SpectrumType::thermal:
      if (!spectrum.temperature) {
        s.spectrum = SourceSpectrum::gas;
        break;
      }
      s.spectrum = SourceSpectrum::gaussian;
      s.width = reference->thermal_speed(*spectrum.temperature, 0) / std::sqrt(2.) / unit;
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

/// Whether the position is inside the medium; in a grid it becomes a cell and an offset.
bool place_point(Source<double>& s, const MediumOutline& medium) {
  if (medium.mesh) {
    const auto site = medium.mesh->locate({s.position[0], s.position[1], s.position[2]});
    for (std::size_t k = 0; site && k < 3; ++k) s.place[k] = site->place[k], s.position[k] = site->offset[k];
    return site.has_value();
  }
  const Vec3<double> p{s.position[0], s.position[1], s.position[2]};
  return std::visit(
      [&]<class D>(const D& data) {
        if constexpr (requires { view<double>(data).locate(p); })
          return view<double>(data).locate(p) != outside;
        else
          return false;
      },
      medium.dataset);
}

/// Whether the gas is infinite along x and y.
bool has_no_sides(const MediumOutline& medium) {
  return std::visit(
      [&]<class D>(const D& data) {
        if constexpr (requires { shape_of_model(data); })
          return std::isinf(shape_of_model(data).half[0]);
        else
          return false;
      },
      medium.dataset);
}

/// The smallest |n_z| of the light of a beam onto a slab; refuses what never meets it.
double least_slope(const Source<double>& s, const config::Generator& g, const Refuse& refuse, const std::string& key) {
  const double slope = std::abs(s.direction[2]);
  if (slope < 1e-6) refuse(key + ".direction", "a beam parallel to the slab never meets it; give it a z component");
  if (!(s.cone > 0)) return slope;
  const double edge = std::acos(std::min(slope, 1.)) + g.opening_angle;
  if (edge > 89.5 * constants::pi / 180) {
    refuse(key + ".opening_angle",
           fmt::format("the light reaches {:.4g} deg from the normal of the slab; expected at most 89.5 deg, beyond "
                       "which it never meets the slab: make the cone narrower, or turn its direction",
                       edge * 180 / constants::pi));
  }
  return std::max(std::cos(edge), 1e-6);
}

void set_place(Source<double>& s, const config::Generator& g, const MediumOutline& medium, const Refuse& refuse,
               const std::string& key) {
  for (int i = 0; i < 3; ++i) {
    s.position[i] = g.position[i] / medium.size;
    s.velocity[i] = g.velocity[i] / medium.thermal_speed;
    s.direction[i] = g.direction[i];
  }
  s.radius = g.radius / medium.size;
  const auto cone = [&] { return std::pow(std::sin(g.opening_angle / 2), 2); };
  const HostMesh* mesh = medium.mesh.get();
  if (g.type == config::GeneratorType::point) {
    s.shape = BirthPlace::point;
    s.cone = cone();
    if (!place_point(s, medium)) {
      refuse(key + ".position",
             "the source lies outside the gas; move it inside, or use an extended source of shape beam");
    }
    return;
  }
  switch (g.shape) {
    case config::SourceShape::medium:
      s.shape = BirthPlace::medium;
      s.in_gas = true;
      if (mesh) refuse(key + ".shape", "not possible in a grid: use a generator of type gas");
      break;
    case config::SourceShape::surface:
      s.shape = BirthPlace::surface;
      if (mesh) {
        double room = 1e300;
        const auto low = mesh->low(), sides = mesh->sides();
        for (std::size_t k = 0; k < 3; ++k) room = std::min({room, -low[k], low[k] + sides[k]});
        if (s.radius > room) refuse(key + ".radius", "the surface extends beyond the grid; use a smaller radius");
      }
      break;
    case config::SourceShape::beam:
      s.shape = BirthPlace::beam;
      s.cone = cone();
      if (mesh) {  // upstream of all of it
        s.distance = s.radius;
        const auto low = mesh->low(), sides = mesh->sides();
        for (std::size_t k = 0; k < 3; ++k) s.distance += std::abs(low[k]) + sides[k];
        break;
      }
      // Upstream of the sphere, or of the slab's near face even at the edge of a tilted beam.
      s.distance = s.cone > 0 ? 2 + s.radius : 2;
      if (has_no_sides(medium)) s.distance = (2 + s.radius) / least_slope(s, g, refuse, key);
      break;
  }
}

/// The share of each generator in the photons of its own and of those after it.
void set_shares(Emitter<double>& emitter) {
  std::uint64_t rest = emitter.count();
  for (std::size_t i = 0; i < emitter.sources.size(); ++i) {
    const std::uint64_t photons = emitter.light[i].photons;
    emitter.sources[i].photon_share = fraction64(photons, rest);
    rest -= photons;
  }
}

/// A run counts light in 2^-62 of its sum, of 4e6 photons if there are fewer (drivers/mcrt/batches.hpp), and squares of
/// weights in the same way: less than 1e3 of that would be too coarse for a luminosity, or for an error.
void check_weights(const Emitter<double>& emitter) {
  double faintest = 1e300, brightest = 0;
  const double least = 1e3 * 0x1p-62 * std::max(0x1p22 / double(emitter.count()), 1.);
  for (std::size_t i = 0; i < emitter.light.size(); ++i) {
    const Light& light = emitter.light[i];
    faintest = std::min(faintest, light.faintest * emitter.sources[i].escape_fraction);
    brightest = std::max(brightest, light.brightest);
  }
  if (faintest < least * emitter.luminosity()) {
    warning(
        "a photon of the faintest source carries {:.1g} of all light, too little to be counted, so its luminosity is "
        "wrong. Use fewer photons or a larger escape_fraction for it, or remove it.",
        faintest / emitter.luminosity());
  } else if (faintest * faintest < least * emitter.luminosity_squared()) {
    warning(
        "a photon of the faintest source carries {:.1g} of the light of one of the brightest, so the errors of bins "
        "with only such photons are not resolved. Use fewer photons for it.",
        faintest / brightest);
  }
}

/// Reads the list of the generator of this index and adds up its light.
using ReadList = std::function<std::shared_ptr<const SourceList>(std::size_t generator, Light& light)>;

/// One source for each generator; without `read_list` the tables of lists are left empty.
Emitter<double> build_sources(std::span<const config::Generator> generators, std::uint64_t seed,
                              const MediumOutline& medium, const Line& line, const Refuse& refuse,
                              const ReadList& read_list) {
  Emitter<double> emitter{seed, {}, {}, {}};
  bool whole = true;
  for (std::size_t i = 0; i < generators.size(); ++i) {
    const config::Generator& g = generators[i];
    Source<double> s{};
    const std::string key = "generators." + std::to_string(i);
    set_spectrum(s, g.spectrum, medium, line, refuse, key);
    Light light;
    std::shared_ptr<const SourceList> list;
    if (g.type == config::GeneratorType::point || g.type == config::GeneratorType::extended) {
      set_place(s, g, medium, refuse, key);
      light.share(g.luminosity, g.photons);
    } else {
      const bool gas = g.type == config::GeneratorType::gas;
      s.shape = BirthPlace::table;
      s.in_gas = gas || g.frame == config::RestFrame::gas;
      if (gas && (!medium.mesh || g.path.empty())) {
        refuse(key + ".type", "needs dataset.type: uniform_grid");
        continue;
      }
      if (!gas && g.path.empty()) {
        refuse(key + ".path", "missing: give the file with the list of sources");
        continue;
      }
      if (g.spectrum.reference.empty()) set_members(s, medium, line);
      if (read_list) list = read_list(i, light);
      if (list) s.table = list->table();
      whole = whole && list;
    }
    if (s.spectrum == SourceSpectrum::gas && !s.in_gas) refuse(key + ".spectrum.temperature", "missing");
    s.weight = light.by_source ? 1 : light.photons > 0 ? light.luminosity / double(light.photons) : 0;
    s.escape_fraction = g.escape_fraction;
    emitter.sources.push_back(s);
    emitter.light.push_back(light);
    emitter.lists.push_back(list);
  }
  if (!whole) return emitter;
  set_shares(emitter);
  const double luminosity = emitter.luminosity();
  if (!(luminosity > 1e-100 && luminosity < 1e100)) {
    refuse("generators", "expected a total luminosity from 1e-100 to 1e100 erg/s");
  }
  check_weights(emitter);
  return emitter;
}

}  // namespace

void check_generators(std::span<const config::Generator> generators, const MediumOutline& medium, const Line& line,
                      const Refuse& refuse) {
  build_sources(generators, 0, medium, line, refuse, {});
}

Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse, const EmitterOptions& options) {
  if (!options.partition) {
    return build_sources(generators, seed, medium, line, refuse, [&](std::size_t i, Light& light) {
      return build_source_list(generators[i], medium, seed + i, light);
    });
  }
  auto divided = std::make_shared<DividedLight>();
  divided->generators.resize(generators.size());
  std::vector<std::shared_ptr<const GasLists>> lists(generators.size());
  const auto read = [&](std::size_t i, Light& light) -> std::shared_ptr<const SourceList> {
    const config::Generator& g = generators[i];
    if (g.type != config::GeneratorType::gas) return build_source_list(g, medium, seed + i, light);
    lists[i] = std::make_shared<const GasLists>(g, medium, seed + i, options, light);
    divided->generators[i] = {lists[i], &lists[i]->slots()};
    return std::make_shared<const SourceList>();  // without sources
  };
  Emitter<double> emitter = build_sources(generators, seed, medium, line, refuse, read);
  divided->list = [lists](std::size_t generator, int domain) { return lists[generator]->list(domain); };
  emitter.divided = divided;
  return emitter;
}

int DividedLight::Slots::domain_of(std::uint64_t number) const {
  return domain[first_beyond(end.data(), end.size(), slot_of(table, number))];
}

template <class Real>
Emitter<Real> Emitter<Real>::of_domain(int domain) const {
  Emitter here = *this;
  for (std::size_t i = 0; divided && i < sources.size(); ++i) {
    if (!divided->generators[i]) continue;
    here.lists[i] = divided->list(i, domain);
    here.sources[i].table = here.lists[i]->table();
  }
  return here;
}

std::uint64_t fraction64(std::uint64_t part, std::uint64_t whole) {
  __extension__ typedef unsigned __int128 Wide;
  return part >= whole ? ~0ull : static_cast<std::uint64_t>(((Wide(part) << 64) + whole - 1) / whole);
}

void Light::add(double weight, std::uint64_t more) {
  photons += more;
  luminosity += weight * double(more);
  squares += weight * weight * double(more);
  faintest = std::min(faintest, weight);
  brightest = std::max(brightest, weight);
}

void Light::share(double all, std::uint64_t more) {
  const double before = luminosity;
  add(all / double(more), more);
  luminosity = before + all;  // exactly, however many they are
}

Emitter<double> for_one_photon(const Emitter<double>& emitter) {
  Emitter<double> one = emitter;
  const auto all = double(emitter.count());
  for (std::size_t i = 0; i < one.sources.size(); ++i) {
    Source<double>& s = one.sources[i];
    s.weight = one.light[i].by_source ? all : one.light[i].luminosity * (all / double(one.light[i].photons));
  }
  return one;
}

template <class Real>
std::uint64_t Emitter<Real>::count() const {
  std::uint64_t sum = 0;
  for (const Light& l : light) sum += l.photons;
  return sum;
}
template <class Real>
double Emitter<Real>::luminosity() const {
  double sum = 0;
  for (const Light& l : light) sum += l.luminosity;
  return sum;
}
template <class Real>
double Emitter<Real>::luminosity_squared() const {
  double sum = 0;
  for (const Light& l : light) sum += l.squares;
  return sum;
}
template <class Real>
bool Emitter<Real>::equal_weights() const {
  double low = 1e300, high = 0;
  for (std::size_t i = 0; i < light.size(); ++i) {
    low = std::min(low, light[i].faintest * sources[i].escape_fraction);
    high = std::max(high, light[i].brightest * sources[i].escape_fraction);
  }
  return low == high;
}

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter) {
  Emitter<Real> r{emitter.seed, {}, emitter.light, emitter.lists, emitter.divided};
  for (const Source<double>& s : emitter.sources) {
    Source<Real> t{};
    t.photon_share = s.photon_share, t.weight = s.weight, t.escape_fraction = s.escape_fraction;
    t.shape = s.shape, t.spectrum = s.spectrum, t.in_gas = s.in_gas, t.table = s.table;
    t.members = s.members;
    for (int i = 0; i < s.members; ++i) t.member[i] = Real(s.member[i]), t.share[i] = Real(s.share[i]);
    for (int i = 0; i < 3; ++i) t.place[i] = s.place[i];
    for (int i = 0; i < 3; ++i) {
      t.position[i] = Real(s.position[i]), t.direction[i] = Real(s.direction[i]), t.velocity[i] = Real(s.velocity[i]);
    }
    t.radius = Real(s.radius), t.distance = Real(s.distance), t.cone = s.cone;
    t.centre = Real(s.centre), t.width = Real(s.width), t.tail = Real(s.tail), t.line_share = Real(s.line_share);
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
