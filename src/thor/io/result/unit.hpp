#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace thor::io {

/// A product of powers of units, such as "erg s-1 kpc-2 / (km s-1)": what the `units` attributes of results are. A
/// velocity counts as one unit, so that light per velocity does not become erg per length.
class Unit {
 public:
  Unit() = default;

  /// Understands blanks, "/", parentheses and whole powers ("kpc-2", "kpc^-2", "kpc**-2"); any word is a unit.
  explicit Unit(std::string_view text);

  Unit operator*(const Unit& other) const;
  Unit power(int n) const;

  /// As FITS has it (FITS standard 4.0, section 4.3), energy first: "erg s-1 cm-2 arcsec-2 Angstrom-1".
  std::string text() const;

  bool operator==(const Unit&) const = default;

 private:
  struct Factor {
    std::string name;
    int power;
    bool operator==(const Factor&) const = default;
  };
  void multiply(const std::string& name, int power);
  std::vector<Factor> factors_;  ///< in the order of text(); no power is 0
};

}  // namespace thor::io
