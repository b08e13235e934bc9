#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Units exist only in input and output: text such as "10 kpc" becomes a number in cgs here.
namespace thor {

inline constexpr double solar_mass = 1.98841e33;  ///< [g], GM of IAU 2015 B3 with G of CODATA 2018

enum class Dimension {
  none,            ///< a plain number
  length,          ///< [cm]
  velocity,        ///< [cm/s]
  temperature,     ///< [K]
  column_density,  ///< [cm^-2]
  number_density,  ///< [cm^-3]
  luminosity,      ///< [erg/s]
  frequency,       ///< [Hz]
  rate,            ///< [1/s]
  wavenumber,      ///< [1/cm]
  area,            ///< [cm^2]
  mass,            ///< [g]
  angle,           ///< [rad]
  time,            ///< [s]
  memory,          ///< [byte]
  fraction,        ///< in per cent, or a plain number
  wavelength = length,
};

struct Quantity {
  double value = 0;  ///< cgs
  Dimension dimension = Dimension::none;
  std::string text;  ///< the original text
};

/// Parses a number with or without a unit. Throws std::invalid_argument for anything else, and for a number that is not
/// finite or exceeds the range of a double in cgs.
Quantity parse_quantity(std::string_view text);

/// Parses a quantity whose unit must be one of `expected`; the error message lists the accepted units.
Quantity parse_quantity(std::string_view text, Dimension expected);

/// Unit in which thor prints a quantity; empty for a plain number.
std::string_view shown_unit(Dimension dimension);

/// Every spelling of every unit of a dimension.
std::vector<std::string> unit_names(Dimension dimension);

/// Description of a dimension for error messages: a length such as "10 kpc" (units: cm, m, ...).
std::string describe(Dimension dimension);

}  // namespace thor
