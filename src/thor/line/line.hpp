#pragma once
#include <span>
#include <string>

namespace thor {

/// A resonant line of one absorbing species (cgs).
struct Line {
  std::string name;
  std::string description;
  double wavelength;           ///< vacuum wavelength lambda_0 [cm]
  double oscillator_strength;  ///< f
  double einstein_A;           ///< A [1/s]
  double mass;                 ///< of the atom [g]

  double frequency() const;                                       ///< nu_0 = c/lambda_0 [Hz]
  double photon_energy() const;                                   ///< h nu_0 [erg]
  double thermal_speed(double temperature, double b_turb) const;  ///< sqrt(2 k T/m + b_turb^2) [cm/s]
  double voigt_parameter(double speed) const;                     ///< a = A/(4 pi nu_0) c/v
  double cross_section(double speed) const;                       ///< line-centre sigma_0 [cm^2], H(a,0) = 1
  double recoil(double speed) const;                              ///< h nu_0/(m c v), in units of x
};

/// All lines that thor knows.
std::span<const Line> lines();

/// The line of this name; throws Error(usage) with the known names.
const Line& find_line(const std::string& name);

}  // namespace thor
