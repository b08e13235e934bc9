#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Tables of metal ions and of emissivities over (log n_H, log T, log Z, redshift): docs/emission.md#ion-tables.
namespace thor::emission {

/// Interpolates logarithms linearly along all four axes. A redshift outside the table is an error; densities,
/// temperatures and metallicities outside take the value at the edge, beyond which emissivities scale as n_H^2 and as
/// Z. All functions may be called from any number of threads; an ion or line that is not in the table is an
/// Error(input).
class IonTable {
 public:
  IonTable(const std::string& path, double redshift);

  std::vector<std::string> ions() const;   ///< "MgII", ..., sorted
  std::vector<std::string> lines() const;  ///< names of lines with an emissivity, sorted
  /// Fraction of the element's atoms in this ion. `metallicity` is in solar units.
  double fraction(const std::string& ion, double hydrogen_density, double temperature, double metallicity) const;
  /// Number of the element's atoms per hydrogen atom at this metallicity.
  double abundance(const std::string& ion, double metallicity) const;
  double emissivity(const std::string& line, double hydrogen_density, double temperature,
                    double metallicity) const;  ///< [erg/s/cm^3]
  std::uint64_t clamped() const;  ///< number of calls so far outside the table's densities or temperatures
  std::string describe() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace thor::emission
