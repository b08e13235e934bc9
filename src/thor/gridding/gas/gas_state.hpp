#pragma once
#include <array>
#include <optional>

#include "thor/core/constants.hpp"
#include "thor/emission/ion_table.hpp"
#include "thor/emission/ionization.hpp"
#include "thor/gridding/gas/fields.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Converts the data of a gas element in a snapshot to the amounts to be deposited. docs/gridding.md lists the
/// formulas.
namespace thor::gridding {

inline constexpr double default_hydrogen = 0.76;  ///< mass fraction if the snapshot has none
inline constexpr double adiabatic_index = 5. / 3;

/// Particles in a gram of gas with hydrogen fraction X and x_e electrons per hydrogen atom. Everything other than
/// hydrogen counts as helium: N = [X + (1 - X)/4 + X x_e]/m_H, so that mu = 4/(1 + 3 X + 4 X x_e).
inline double particles_per_gram(double X, double x_e) { return (0.25 * (1 + 3 * X) + X * x_e) / hydrogen_mass; }

/// u = k_B T N/(gamma - 1) [erg/g]
inline double thermal_energy(double temperature, double X, double x_e) {
  return constants::k_B * temperature * particles_per_gram(X, x_e) / (adiabatic_index - 1);
}
inline double temperature_of(double internal_energy, double X, double x_e) {
  return (adiabatic_index - 1) * internal_energy / (constants::k_B * particles_per_gram(X, x_e));
}

/// n_He/n_H, where everything other than hydrogen counts as helium.
inline double helium_per_hydrogen(double X) { return (1 - X) / (4 * X); }

/// Electrons per hydrogen atom in every ionisation model, and in a snapshot without electrons: helium is singly ionised
/// where hydrogen is ionised.
inline double electrons_of(double neutral, double X) { return (1 - neutral) * (1 + helium_per_hydrogen(X)); }

/// Largest n_e/n_H at a neutral fraction: n_HII + 2 n_He. More electrons than this are inconsistent with the neutral
/// fraction.
inline double most_electrons(double neutral, double X) { return 1 - neutral + 2 * helium_per_hydrogen(X); }

/// Tolerance of the solver of a simulation: AREPO iterates n_e to 1e-4.
inline constexpr double electron_rounding = 1e-3;
inline bool too_many_electrons(double electrons, double neutral, double X) {
  return electrons > (1 + electron_rounding) * most_electrons(neutral, X) + electron_rounding;
}

struct GasModel {
  std::optional<emission::Ionization> ionization;  ///< std::nullopt: the snapshot's own neutral fraction
  /// Temperature of star-forming elements [K]. These are on an effective equation of state, so their temperature and
  /// ionisation in the snapshot are not physical; their ionisation follows from eos_ionization() at this temperature.
  /// With std::nullopt they keep the values of the snapshot.
  std::optional<double> eos_temperature = 1e4;
  bool eos_emission = false;          ///< whether they emit
  std::optional<double> metallicity;  ///< mass fraction, if the snapshot has none
  std::optional<emission::IonTable> table;
  double solar_metallicity = 0.0127;  ///< Wiersma et al. 2009; the same as in dust_metallicity()
  double f_ion = 0.01;                ///< dust in ionised gas, relative to neutral gas

  /// The chosen model; collisional ionisation if the neutral fraction is the snapshot's own.
  const emission::Ionization& eos_ionization() const { return ionization ? *ionization : collisional_; }
  bool is_star_forming(const io::GasBlock& block, std::size_t i) const {
    return !block.sfr.empty() && block.sfr[i] > 0;
  }
  bool is_derived_again(const io::GasBlock& block, std::size_t i) const {
    return eos_temperature && is_star_forming(block, i);
  }

 private:
  emission::Ionization collisional_ = emission::Ionization::collisional();
};

struct GasState {
  double volume = 0;            ///< [cm^3]
  double temperature = 0;       ///< [K]
  double internal_energy = 0;   ///< [erg/g]
  double hydrogen_density = 0;  ///< n_H [cm^-3]
  double neutral = 0;           ///< n_HI/n_H
  double electrons = 0;         ///< n_e/n_H
  double metallicity = 0;       ///< mass fraction
  bool shines = true;
};

/// State of element `i`, which must be valid.
GasState gas_state(const io::GasBlock& block, std::size_t i, const GasModel& model);

/// Amounts of the `fields.count` fields for an element that moves with `velocity`.
void amounts(const io::GasBlock& block, std::size_t i, const GasState& state, const GasModel& model,
             const std::array<double, 3>& velocity, const FieldList& fields, double* out);

}  // namespace thor::gridding
