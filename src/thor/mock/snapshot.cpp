#include "thor/mock/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/version.hpp"
#include "thor/io/array/output.hpp"
#include "thor/mock/gas_state.hpp"

namespace thor::mock {
namespace {

// Code units as in IllustrisTNG.
constexpr double unit_length = 3.085678e21, unit_mass = 1.989e43, unit_velocity = 1e5;

/// Scale factor at the birth of a star of this age: Cosmology::age, inverted by power-law interpolation between
/// tabulated values.
class Birth {
 public:
  Birth(const Cosmology& cosmology, double redshift) : now_(cosmology.age(redshift)) {
    constexpr int steps = 1024;
    const double first = std::log(1e-3), last = -std::log1p(redshift);
    for (int i = 0; i <= steps; ++i) {
      log_a_.push_back(first + (last - first) * i / steps);
      log_age_.push_back(std::log(i == steps ? now_ : cosmology.age(std::expm1(-log_a_.back()))));
    }
  }
  double scale_factor(double age) const {
    const double born = std::log(std::max(now_ - age, std::exp(log_age_.front())));
    const auto above = std::upper_bound(log_age_.begin() + 1, log_age_.end() - 1, born) - log_age_.begin();
    const double part = (born - log_age_[above - 1]) / (log_age_[above] - log_age_[above - 1]);
    return std::exp(log_a_[above - 1] + part * (log_a_[above] - log_a_[above - 1]));
  }

 private:
  double now_;
  std::vector<double> log_a_, log_age_;
};

/// Writes one field after the other, in code units with a and h as in IllustrisTNG and with the same attributes.
class Writer {
 public:
  Writer(io::ArrayOutput& file, const Snapshot& snapshot)
      : file_(file), a_(snapshot.scale_factor()), h_(snapshot.cosmology.h) {}

  /// In physical cgs units a value is `cgs` a^a h^h.
  struct Unit {
    double cgs, a, h;
    std::string name;
    double factor(double scale, double hubble) const { return cgs * std::pow(scale, a) * std::pow(hubble, h); }
  };

  template <class T, class Element, class Get>
  void field(const std::string& path, const std::vector<Element>& elements, const Unit& unit, const char* meaning,
             Get get) {
    using Value = decltype(get(elements[0]));
    std::vector<T> values;
    const double scale = 1 / unit.factor(a_, h_);
    if constexpr (std::is_same_v<Value, Vector>) {
      values.reserve(3 * elements.size());
      for (const Element& e : elements) {
        for (const double x : get(e)) values.push_back(T(x * scale));
      }
      file_.write<T>(path, values, {elements.size(), 3}, unit.name, meaning);
    } else {
      values.reserve(elements.size());
      for (const Element& e : elements) {
        if constexpr (std::is_integral_v<Value>) {
          values.push_back(T(get(e)));
        } else {
          values.push_back(T(get(e) * scale));
        }
      }
      file_.write<T>(path, values, {elements.size()}, unit.name, meaning);
    }
    file_.attribute(path, "a_scaling", unit.a);
    file_.attribute(path, "h_scaling", unit.h);
    file_.attribute(path, "to_cgs", unit.cgs);
  }

 private:
  io::ArrayOutput& file_;
  double a_, h_;
};

const Writer::Unit length{unit_length, 1, -1, "ckpc/h"}, mass{unit_mass, 0, -1, "1e10 Msun/h"},
    velocity{unit_velocity, 0.5, 0, "km sqrt(a)/s"},
    density{unit_mass / (unit_length * unit_length * unit_length), -3, 2, "(1e10 Msun/h)/(ckpc/h)^3"},
    energy{unit_velocity * unit_velocity, 0, 0, "(km/s)^2"}, number{1, 0, 0, ""}, rate{1, 0, 0, "Msun/yr"};

void write_header(io::ArrayOutput& file, const Snapshot& snapshot) {
  const double a = snapshot.scale_factor();
  const std::vector<double> counts{double(snapshot.gas.size()), 0, 0, 0, double(snapshot.stars.size()), 0}, none(6);
  const auto list = [&](const char* name, const std::vector<double>& values) {
    file.attribute("/Header", name, std::span<const double>(values));
  };
  const auto number = [&](const char* name, double value) { file.attribute("/Header", name, value); };
  list("NumPart_ThisFile", counts);
  list("NumPart_Total", counts);
  list("NumPart_Total_HighWord", none);
  list("MassTable", none);
  file.attribute("/Header", "NumFilesPerSnapshot", std::int64_t(1));
  number("Time", a);
  number("Redshift", snapshot.redshift);
  number("BoxSize", snapshot.box / length.factor(a, snapshot.cosmology.h));
  number("HubbleParam", snapshot.cosmology.h);
  number("Omega0", snapshot.cosmology.omega_m);
  number("OmegaLambda", snapshot.cosmology.omega_lambda);
  number("UnitLength_in_cm", unit_length);
  number("UnitMass_in_g", unit_mass);
  number("UnitVelocity_in_cm_per_s", unit_velocity);

  file.attribute("/", "synthetic", true);
  file.attribute("/", "description",
                 std::string_view("A synthetic snapshot, drawn from a seed: not the result of a simulation."));
  file.attribute("/", "made_by", std::string_view(fmt::format("thor {} mock {}", version, snapshot.kind)));
  file.attribute("/", "parameters", std::string_view(snapshot.parameters));
  file.attribute("/", "seed", std::int64_t(snapshot.seed));
}

}  // namespace

double mass_left(double age) { return 1 - 0.05 * std::log1p(age / (1.4e6 * year)); }

void set_ionization(Snapshot& snapshot) {
  const double rate = photoionization_rate(snapshot.redshift);
  for (GasElement& g : snapshot.gas) {
    g.neutral = neutral_fraction(hydrogen_density(g.density), g.temperature, rate);
    g.electrons = electron_abundance(g.neutral, g.temperature);
  }
}

void write(const Snapshot& snapshot, io::ArrayOutput& file) {
  write_header(file, snapshot);
  Writer writer(file, snapshot);
  using G = const GasElement&;
  const auto gas = [&]<class T>(T, const char* name, const Writer::Unit& unit, const char* meaning, auto get) {
    writer.field<T>(std::string("/PartType0/") + name, snapshot.gas, unit, meaning, get);
  };
  gas(0., "Coordinates", length, "position", [](G g) { return g.position; });
  gas(0.f, "Velocities", velocity, "peculiar velocity", [](G g) { return g.velocity; });
  gas(0.f, "Masses", mass, "mass", [](G g) { return g.mass; });
  gas(0.f, "Density", density, "comoving mass density", [](G g) { return g.density; });
  gas(0.f, "InternalEnergy", energy, "thermal energy per mass",
      [](G g) { return internal_energy(g.temperature, g.electrons); });
  gas(0.f, "ElectronAbundance", number, "electrons per hydrogen nucleus", [](G g) { return g.electrons; });
  gas(0.f, "NeutralHydrogenAbundance", number, "neutral fraction of hydrogen", [](G g) { return g.neutral; });
  gas(0.f, "GFM_Metallicity", number, "mass fraction of metals", [](G g) { return g.metallicity; });
  gas(0.f, "StarFormationRate", rate, "star formation rate", [](G g) { return g.sfr; });
  gas(std::uint64_t(0), "ParticleIDs", number, "number of the particle", [](G g) { return g.id; });

  using S = const Star&;
  const Birth birth(snapshot.cosmology, snapshot.redshift);
  const auto stars = [&]<class T>(T, const char* name, const Writer::Unit& unit, const char* meaning, auto get) {
    writer.field<T>(std::string("/PartType4/") + name, snapshot.stars, unit, meaning, get);
  };
  stars(0., "Coordinates", length, "position", [](S s) { return s.position; });
  stars(0.f, "Velocities", velocity, "peculiar velocity", [](S s) { return s.velocity; });
  stars(0.f, "Masses", mass, "present mass", [](S s) { return s.initial_mass * mass_left(s.age); });
  stars(0.f, "GFM_InitialMass", mass, "mass at birth", [](S s) { return s.initial_mass; });
  stars(0.f, "GFM_StellarFormationTime", number, "scale factor at birth",
        [&](S s) { return birth.scale_factor(s.age); });
  stars(0.f, "GFM_Metallicity", number, "mass fraction of metals", [](S s) { return s.metallicity; });
  stars(std::uint64_t(0), "ParticleIDs", number, "number of the particle", [](S s) { return s.id; });
}

std::string describe(const Snapshot& snapshot) {
  double gas = 0, neutral = 0, sfr = 0, stars = 0;
  for (const GasElement& g : snapshot.gas) {
    gas += g.mass, neutral += g.mass * hydrogen_share * g.neutral, sfr += g.sfr;
  }
  for (const Star& s : snapshot.stars) stars += s.initial_mass * mass_left(s.age);
  return fmt::format(
      "  gas    {:>9} elements, {:.3g} M_sun, including {:.3g} M_sun of neutral hydrogen; {:.3g} M_sun/yr\n"
      "  stars  {:>9} particles, {:.3g} M_sun\n"
      "  box    {:.4g} kpc (physical), z = {:g}\n",
      snapshot.gas.size(), gas / solar_mass, neutral / solar_mass, sfr, snapshot.stars.size(), stars / solar_mass,
      snapshot.box / kpc, snapshot.redshift);
}

}  // namespace thor::mock
