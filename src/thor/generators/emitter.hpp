#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "thor/config/config.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/generators/source.hpp"

namespace thor {

/// All sources of a run and the numbering of their photons: ids run through the sources one after the other, and a
/// photon is a function of (seed, id).
template <class Real>
struct Emitter {
  std::uint64_t seed;
  std::vector<Source<Real>> sources;
  std::vector<std::uint64_t> end;  ///< first id after each source
  std::vector<double> weight;      ///< luminosity per photon [erg/s]

  std::uint64_t count() const { return end.empty() ? 0 : end.back(); }
  std::size_t source_of(std::uint64_t id) const { return std::upper_bound(end.begin(), end.end(), id) - end.begin(); }
};

/// Throws Error(usage) for a source that the medium cannot hold.
Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line);

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter);

}  // namespace thor
