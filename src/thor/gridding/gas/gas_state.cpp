#include "thor/gridding/gas/gas_state.hpp"

#include <algorithm>
#include <cmath>

#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"

namespace thor::gridding {
namespace {

/// Without a temperature or an electron abundance the two have to be found together. At fixed energy
/// more electrons mean a lower temperature, which means fewer electrons, so there is one solution. It is found by the
/// Illinois variant of the false-position method.
double solve_electrons(const emission::Ionization& ionization, double internal_energy, double n_H, double X) {
  const auto excess = [&](double x_e) {
    return electrons_of(ionization.neutral_fraction(n_H, temperature_of(internal_energy, X, x_e)), X) - x_e;
  };
  double low = 0, high = electrons_of(0, X);
  double above = excess(low), below = excess(high);
  if (above <= 0) return low;
  if (below >= 0) return high;
  for (int i = 0, side = 0; i < 60 && high - low > 1e-7; ++i) {
    const double x = (low * below - high * above) / (below - above), e = excess(x);
    if (std::abs(e) < 1e-7) return x;
    if (e > 0) {
      low = x, above = e;
      if (side == 1) below *= 0.5;
      side = 1;
    } else {
      high = x, below = e;
      if (side == -1) above *= 0.5;
      side = -1;
    }
  }
  return 0.5 * (low + high);
}

}  // namespace

GasState gas_state(const io::GasBlock& block, std::size_t i, const GasModel& model) {
  GasState s;
  const double X = block.hydrogen.empty() ? default_hydrogen : std::clamp(block.hydrogen[i], 1e-6, 1.);
  s.volume = block.mass[i] / block.density[i];
  s.hydrogen_density = X * block.density[i] / hydrogen_mass;
  s.metallicity = block.metallicity.empty() ? model.metallicity.value_or(0) : std::clamp(block.metallicity[i], 0., 1.);
  s.shines = model.eos_emission || !model.is_star_forming(block, i);
  if (model.is_derived_again(block, i)) {
    s.temperature = *model.eos_temperature;
    s.neutral = model.eos_ionization().neutral_fraction(s.hydrogen_density, s.temperature);
    s.electrons = electrons_of(s.neutral, X);
  } else if (model.ionization) {
    // The temperature is that of the simulation, computed with its own electrons if it has them; these are not used
    // otherwise.
    std::optional<double> solved;
    if (!block.temperature.empty()) {
      s.temperature = block.temperature[i];
    } else if (!block.electrons.empty()) {
      s.temperature = temperature_of(block.internal_energy[i], X, std::max(block.electrons[i], 0.));
    } else {
      solved = solve_electrons(*model.ionization, block.internal_energy[i], s.hydrogen_density, X);
      s.temperature = temperature_of(block.internal_energy[i], X, *solved);
    }
    s.neutral = model.ionization->neutral_fraction(s.hydrogen_density, s.temperature);
    s.electrons = solved ? *solved : electrons_of(s.neutral, X);
  } else {
    s.neutral = std::clamp(block.neutral[i], 0., 1.);
    s.electrons = block.electrons.empty() ? electrons_of(s.neutral, X) : std::max(block.electrons[i], 0.);
    s.temperature =
        block.temperature.empty() ? temperature_of(block.internal_energy[i], X, s.electrons) : block.temperature[i];
  }
  s.internal_energy = thermal_energy(s.temperature, X, s.electrons);
  return s;
}

void amounts(const io::GasBlock& block, std::size_t i, const GasState& s, const GasModel& model,
             const std::array<double, 3>& velocity, const FieldList& fields, double* out) {
  const double m = block.mass[i], hydrogen = s.hydrogen_density * s.volume;
  out[mass] = m;
  for (std::size_t a = 0; a < 3; ++a) out[momentum_x + a] = m * velocity[a];
  out[energy] = m * s.internal_energy;
  out[HI] = s.neutral * hydrogen;
  out[HII] = (1 - s.neutral) * hydrogen;
  out[electrons] = s.electrons * hydrogen;
  const double solar = s.metallicity / model.solar_metallicity;
  if (fields.metals >= 0) out[fields.metals] = m * s.metallicity;
  if (fields.dust >= 0) out[fields.dust] = (out[HI] + model.f_ion * out[HII]) * solar;
  const double shining = s.shines ? s.volume : 0;
  const double n_e = s.electrons * s.hydrogen_density, n_HI = s.neutral * s.hydrogen_density;
  if (fields.recombination >= 0) {
    out[fields.recombination] =
        shining * emission::recombination_emissivity(s.temperature, n_e, s.hydrogen_density - n_HI);
    out[fields.collisional] = shining * emission::collisional_emissivity(s.temperature, n_e, n_HI);
  }
  for (std::size_t k = 0; k < fields.ions.size(); ++k) {
    const std::string& ion = fields.ions[k];
    out[std::size_t(fields.first_ion) + k] = hydrogen * model.table->abundance(ion, solar) *
                                             model.table->fraction(ion, s.hydrogen_density, s.temperature, solar);
  }
  for (int k = 0; k < fields.species(); ++k) {
    const double atoms = out[fields.number_of(k)];
    out[fields.moment(k, moment_T)] = atoms * s.temperature;
    for (int a = 0; a < 3; ++a) out[fields.moment(k, moment_vx + a)] = atoms * velocity[std::size_t(a)];
  }
  for (std::size_t k = 0; k < fields.lines.size(); ++k) {
    out[std::size_t(fields.first_line) + k] =
        shining * model.table->emissivity(fields.lines[k], s.hydrogen_density, s.temperature, solar);
  }
}

}  // namespace thor::gridding
