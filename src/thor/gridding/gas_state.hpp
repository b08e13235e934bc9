#pragma once
#include <optional>

#include "thor/core/constants.hpp"
#include "thor/emission/ion_table.hpp"
#include "thor/emission/ionization.hpp"
#include "thor/gridding/fields.hpp"
#include "thor/io/snapshot.hpp"

/// From what a snapshot says of a gas element to what is deposited of it. docs/gridding.md has the formulas in one
/// place.
namespace thor::gridding {

inline constexpr double default_hydrogen = 0.76;  ///< mass fraction where the snapshot has none
inline constexpr double adiabatic_index = 5. / 3;

/// Particles in a gram of gas with hydrogen fraction X and x_e electrons per hydrogen atom. All that is not hydrogen
/// counts as helium: N = [X + (1 - X)/4 + X x_e]/m_H, so that mu = 4/(1 + 3 X + 4 X x_e).
inline double particles_per_gram(double X, double x_e) { return (0.25 * (1 + 3 * X) + X * x_e) / hydrogen_mass; }

/// u = k_B T N/(gamma - 1) [erg/g]
inline double thermal_energy(double temperature, double X, double x_e) {
  return constants::k_B * temperature * particles_per_gram(X, x_e) / (adiabatic_index - 1);
}
inline double temperature_of(double internal_energy, double X, double x_e) {
  return (adiabatic_index - 1) * internal_energy / (constants::k_B * particles_per_gram(X, x_e));
}

/// Electrons per hydrogen atom where the snapshot has none: helium, singly ionised, goes with hydrogen.
inline double electrons_of(double neutral, double X) { return (1 - neutral) * (1 + (1 - X) / (4 * X)); }

struct GasModel {
  std::optional<emission::Ionization> ionization;  ///< std::nullopt: the snapshot's own neutral fraction
  std::optional<double> eos_temperature;           ///< of elements that form stars [K]
  std::optional<double> metallicity;               ///< mass fraction, where the snapshot has none
  std::optional<emission::IonTable> table;
  double solar_metallicity = 0.0127;
  double f_ion = 0.01;  ///< dust in ionised gas, as a share of that in neutral gas
};

struct GasState {
  double volume = 0;            ///< [cm^3]
  double temperature = 0;       ///< [K]
  double internal_energy = 0;   ///< [erg/g]
  double hydrogen_density = 0;  ///< n_H [cm^-3]
  double neutral = 0;           ///< n_HI/n_H
  double electrons = 0;         ///< n_e/n_H
  double metallicity = 0;       ///< mass fraction
};

/// Of element `i`, which must be sound.
GasState gas_state(const io::GasBlock& block, std::size_t i, const GasModel& model);

/// What it brings: `fields.count` numbers.
void amounts(const io::GasBlock& block, std::size_t i, const GasState& state, const GasModel& model,
             const FieldList& fields, double* out);

}  // namespace thor::gridding
