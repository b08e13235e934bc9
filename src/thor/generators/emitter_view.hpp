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
  const double* weight;      ///< luminosity per photon [erg/s]
  int count;                 ///< of sources
};

inline namespace THOR_ISA {

/// The first source whose end lies beyond the id, by bisection.
template <class Real>
THOR_FN int source_of(const EmitterView<Real>& emitter, std::uint64_t id) {
  int low = 0, high = emitter.count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (emitter.end[middle] > id)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace THOR_ISA
}  // namespace thor
