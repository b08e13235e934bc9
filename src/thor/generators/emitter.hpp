#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/generators/parameters.hpp"

namespace thor {

/// All sources of a run; see EmitterView.
template <class Real>
struct Emitter {
  std::uint64_t seed;
  std::vector<Source<Real>> sources;
  std::vector<std::uint64_t> end;  ///< first id after each source
  std::vector<double> weight;      ///< luminosity per photon [erg/s]

  std::uint64_t count() const { return end.empty() ? 0 : end.back(); }
  double luminosity() const;          ///< that all photons together stand for [erg/s]
  double luminosity_squared() const;  ///< sum of the squares of their weights
  EmitterView<Real> view() const { return {seed, sources.data(), end.data(), weight.data(), int(sources.size())}; }
};

/// A source that the medium cannot hold is refused.
Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse = refuse_at_once);

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter);

}  // namespace thor
