#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Units exist only in input and output: text such as "10 kpc" becomes a number in cgs here.
namespace thor {

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
  mass,            ///< [g]
  wavelength = length,
};

struct Quantity {
  double value = 0;  ///< cgs
  Dimension dimension = Dimension::none;
  std::string text;  ///< as written
};

/// Parses any number with any unit, or none. Throws std::invalid_argument for everything else, including values that
/// are not finite or exceed the range of a double in cgs.
Quantity parse_quantity(std::string_view text);

/// The same, but the unit must be one of `expected`; the message lists those accepted.
Quantity parse_quantity(std::string_view text, Dimension expected);

/// Unit in which thor prints a quantity; empty for a plain number.
std::string_view shown_unit(Dimension dimension);

/// Every spelling of every unit of a dimension.
std::vector<std::string> unit_names(Dimension dimension);

/// Description of what to write for a dimension, as in: a length such as "10 kpc" (units: cm, m, ...).
std::string describe(Dimension dimension);

}  // namespace thor
