#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/generators/parameters.hpp"

namespace thor {

/// The light of a generator, as its photons carry it at emission.
struct Light {
  double luminosity = 0;                   ///< total luminosity of the photons [erg/s]
  double squares = 0;                      ///< sum of the squares of their weights
  double faintest = 1e300, brightest = 0;  ///< weights of single photons
  std::uint64_t photons = 0, sources = 1;

  void add(double weight, std::uint64_t more);  ///< adds `more` photons of this weight
  void share(double all, std::uint64_t more);   ///< adds `more` photons that share the luminosity `all` equally
};

/// Memory that a SourceTable points to.
struct SourceList {
  std::vector<std::uint64_t> end;
  std::uint64_t start = 0, step = 0;
  std::vector<double> weight;
  std::vector<std::int32_t> place;
  std::vector<float> offset, velocity;

  SourceTable table() const {
    const auto data = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
    return {end.size(),   end.data(),     start,
            step,         data(weight),   data(place),
            data(offset), data(velocity), end.empty() ? 0 : int(place.size() / end.size())};
  }
};

/// All generators of a run; see EmitterView.
template <class Real>
struct Emitter {
  std::uint64_t seed;
  std::vector<Source<Real>> sources;  ///< one for each generator
  std::vector<Light> light;           ///< one for each generator
  std::vector<std::shared_ptr<const SourceList>> lists;

  std::uint64_t count() const;        ///< number of photons
  double luminosity() const;          ///< total luminosity of the photons at emission [erg/s]
  double luminosity_squared() const;  ///< sum of the squares of their weights
  bool equal_weights() const;         ///< whether all photons end with the same weight
  EmitterView<Real> view() const { return {seed, sources.data(), int(sources.size())}; }
};

/// The same photons with the weights that they would have in a run of one photon: N times those of a run of N. They are
/// the same, bit for bit, however many photons are asked for, if all generators keep their shares of them.
Emitter<double> for_one_photon(const Emitter<double>& emitter);

/// Refuses sources that the medium cannot hold. No file of sources is opened.
void check_generators(std::span<const config::Generator> generators, const MediumOutline& medium, const Line& line,
                      const Refuse& refuse);

/// A source that the medium cannot hold is refused.
Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse = refuse_at_once);

/// ceil(2^64 part/whole), at most 2^64 - 1.
std::uint64_t fraction64(std::uint64_t part, std::uint64_t whole);

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter);

}  // namespace thor
