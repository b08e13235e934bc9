#pragma once
#include <utility>

#include "thor/distributions/parallel_velocity.hpp"
#include "thor/line/voigt.hpp"
#include "thor/random/xoshiro.hpp"

namespace thor {

/// A run that uses the default schemes: nothing is left to choose in a step.
struct DefaultNumerics {};

inline namespace THOR_ISA {

struct DefaultSchemes {
  template <class V>
  using Random = Xoshiro128<V>;
  template <class V>
  using ParallelDraws = typename ParallelVelocity<V>::Draws;

  /// A photon's stream from its beginning, and from the state in its lane.
  template <class V>
  THOR_FN Random<V> start(const StreamKey& key) const {
    return xoshiro<V>(key);
  }
  template <class V>
  THOR_FN Random<V> resume(WordOf<V> s0, WordOf<V> s1, WordOf<V> s2, WordOf<V> s3) const {
    return {s0, s1, s2, s3};
  }

  /// Uniform on (0, 1].
  template <class V>
  THOR_FN V positive(WordOf<V> word, Random<V>&) const {
    return uniform_positive<V>(word);
  }

  template <class V>
  THOR_FN VoigtProfile<V> voigt(V a, V x) const {
    return Voigt::eval(a, x);
  }

  /// One proposal for the atom's velocity along the photon.
  template <class V>
  THOR_FN auto propose(const ParallelVelocity<V>& distribution, V x, V gaussian, const ParallelDraws<V>& draws,
                       Random<V>& random) const {
    return distribution.propose(x, gaussian, draws, random);
  }
};
THOR_FN DefaultSchemes schemes(const DefaultNumerics&) { return {}; }

template <class Numerics>
using SchemesOf = decltype(schemes(std::declval<const Numerics&>()));

}  // namespace THOR_ISA
}  // namespace thor
