#pragma once
#include <functional>
#include <vector>

#include "thor/io/hdf5/hdf5.hpp"
#include "thor/outputs/tally_plan.hpp"

namespace thor {

/// The light of a spectrum [erg/s].
struct SpectrumLight {
  std::string name;
  config::Fate of;
  double within, beyond;  ///< its range
};

/// What a run has counted: photons by fate, their light, and the spectra. See TallyPlan.
class Tally {
 public:
  /// For photons whose weights sum up to `luminosity` and their squares to `luminosity_squared`; `axis(reference)` is
  /// the frequency axis about a transition.
  Tally(const std::vector<config::SpectrumOutput>& spectra,
        const std::function<FrequencyAxis(const std::string&)>& axis, double luminosity, double luminosity_squared,
        int generators = 1);

  /// A photon of this weight has been started, of which `left` is not absorbed at birth;
  void start(double weight, double left, int generator = 0);
  void accept(const Photon& photon);  ///< and this is its end
  /// Adds the cells of another tally of the same plan, each of them in `copies` neighbouring parts.
  void merge(const std::uint64_t* cells, int copies = 1);
  void merge(const Tally& other) { merge(other.cells_.data()); }
  void clear();
  void write(io::File& file) const;

  bool operator==(const Tally&) const = default;
  TallyPlan plan() const;
  std::uint64_t operator[](Counter c) const { return cells_[std::size_t(c)]; }
  std::uint64_t photons() const;  ///< that have a fate, or were cut in flight
  double light(Counter c) const { return double((*this)[c]) * quantum_; }
  double light(int generator, GeneratorCounter c) const;
  std::vector<SpectrumLight> light_of_spectra() const;
  /// The relative Monte Carlo error of the first output: of a bin of the first spectrum, averaged with the flux as
  /// weight; without a spectrum that of the escape fraction. 0 where nothing has been counted.
  double error() const;
  /// Conservation: every photon started has one fate, and their light and what was absorbed at birth is what was
  /// emitted, to the last quantum.
  bool conserves() const;

 private:
  void write_spectrum(io::File& file, const std::string& name, const SpectrumBins& bins) const;

  std::vector<std::string> names_;
  std::vector<SpectrumBins> spectra_;
  int generators_;
  std::vector<std::uint64_t> cells_;
  double quantum_, quantum_squared_;
};

}  // namespace thor
