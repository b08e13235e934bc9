#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/core/cosmology.hpp"
#include "thor/mock/draw.hpp"

namespace thor::io {
class ArrayOutput;
}

/// A synthetic snapshot, in physical cgs units, and its file.
namespace thor::mock {

inline constexpr double solar_mass = 1.989e33;            ///< [g], as in the files' unit of mass
inline constexpr double solar_metallicity = 0.0127;       ///< mass fraction, as in IllustrisTNG
inline constexpr double year = 3.15576e7;                 ///< [s]
inline constexpr double kpc = 1e3 * constants::pc;        ///< [cm]
inline constexpr double gravity = 6.6743e-8;              ///< [cm^3/g/s^2], CODATA 2018
inline constexpr double proton_mass = 1.67262192369e-24;  ///< [g], CODATA 2018

enum class Component { disc, clump, outflow, outflow_cloud, halo, halo_cloud, igm, galaxy };

struct GasElement {
  Vector position{};   ///< relative to the corner of the box [cm]
  Vector velocity{};   ///< peculiar [cm/s]
  double mass = 0;     ///< [g]
  double density = 0;  ///< [g/cm^3]
  double temperature = 0;
  double neutral = 0;      ///< n_HI/n_H
  double electrons = 0;    ///< n_e/n_H
  double metallicity = 0;  ///< mass fraction
  double sfr = 0;          ///< [M_sun/yr]
  std::uint64_t id = 0;
  Component component = Component::disc;
};

struct Star {
  Vector position{}, velocity{};
  double initial_mass = 0;  ///< [g]
  double age = 0;           ///< [s]
  double metallicity = 0;   ///< mass fraction
  std::uint64_t id = 0;
};

struct Snapshot {
  Cosmology cosmology;
  double redshift = 0;
  double box = 0;  ///< side [cm], physical
  std::vector<GasElement> gas;
  std::vector<Star> stars;
  std::string kind;  ///< "galaxy", "box"
  std::uint64_t seed = 0;
  std::string parameters;  ///< the command line that reproduces it

  double scale_factor() const { return 1 / (1 + redshift); }
};

/// Fraction of its mass that a coeval population retains after this time [s]: Behroozi, Wechsler & Conroy (2013, ApJ
/// 770, 57), 1 - 0.05 ln(1 + t/1.4 Myr).
double mass_left(double age);

/// Sets the neutral fraction and electrons from density and temperature (gas_state.hpp).
void set_ionization(Snapshot& snapshot);

/// Writes the layout and code units of an IllustrisTNG snapshot: ckpc/h, 1e10 M_sun/h, km sqrt(a)/s.
void write(const Snapshot& snapshot, io::ArrayOutput& file);

/// Description of its contents, a few lines for the user.
std::string describe(const Snapshot& snapshot);

}  // namespace thor::mock
