#pragma once
#include <cstdint>
#include <memory>
#include <string>

/// Neutral fraction of hydrogen, where the snapshot has none. Formulas and sources: docs/emission.md.
namespace thor::emission {

class Ionization {
 public:
  /// Photoionisation equilibrium with a UV background (a TREECOOL file) and, optionally, self-shielding.
  static Ionization equilibrium(const std::string& treecool, double redshift, bool self_shielding);
  /// A table of n_HI/n_H over log n_H, log T and redshift (HDF5, as ../shared/data/cloudy_hi_fraction.hdf5). Densities
  /// and temperatures outside the table take the value at its edge and are counted.
  static Ionization table(const std::string& path, double redshift);
  /// Collisional ionisation alone.
  static Ionization collisional();

  /// n_HI/n_H; may be called from any number of threads. NaN if the density is negative or the temperature not
  /// positive.
  double neutral_fraction(double hydrogen_density, double temperature) const;
  std::uint64_t clamped() const;  ///< number of calls so far outside the table's densities or temperatures
  std::string describe() const;   ///< one sentence for the user: the model and its source

 private:
  struct Impl;
  explicit Ionization(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace thor::emission
