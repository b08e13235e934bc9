#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The velocity of the scattering atom perpendicular to the photon, projected on the plane of scattering (the only
/// component that matters). The magnitude of the two-dimensional Gaussian e^{-u^2} is cut from the left at x_crit
/// (core skipping, Dijkstra et al. 2006, ApJ 649, 14): u = sqrt(x_crit^2 - ln r); x_crit = 0 is the plain Gaussian.
template <class V>
THOR_FN V sample_perpendicular_velocity(V x_crit, WordOf<V> radius_word, WordOf<V> angle_word) {
  const V magnitude = sqrt(fma(x_crit, x_crit, -log(uniform_positive<V>(radius_word))));
  return random_sign<V>(angle_word) * (magnitude * cos_quarter_turn(uniform<V>(angle_word)));
}

}  // namespace THOR_ISA
}  // namespace thor
