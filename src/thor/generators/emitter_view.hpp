#pragma once
#include <cstdint>

#include "thor/generators/source.hpp"

namespace thor {

/// All sources of a run as a kernel sees them, and the numbering of their photons: ids run through the sources one
/// after the other, and a photon is a function of (seed, id).
template <class Real>
struct EmitterView {
  std::uint64_t seed;
  const Source<Real>* sources;
  const std::uint64_t* end;  ///< first id after each source
  const double* weight;      ///< luminosity per photon [erg/s], of those without a table
  int count;                 ///< of sources
};

inline namespace THOR_ISA {

/// Where a photon comes from: a generator, and which of its sources where it has a table.
struct Place {
  int generator;
  std::uint64_t index;
  double weight;
};
template <class Real>
THOR_FN Place place_of(const EmitterView<Real>& emitter, std::uint64_t id) {
  const int generator = first_beyond(emitter.end, emitter.count, id);
  const SourceTable& table = emitter.sources[generator].table;
  if (table.count == 0) return {generator, 0, emitter.weight[generator]};
  const std::uint64_t number = id - (generator > 0 ? emitter.end[generator - 1] : 0);
  const std::uint64_t index = first_beyond(table.end, table.count, number);
  return {generator, index, table.weight[index]};
}

}  // namespace THOR_ISA
}  // namespace thor
