#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The velocity of the scattering atom perpendicular to the photon, projected on the plane of scattering (the only
/// component that matters). The magnitude of the two-dimensional Gaussian e^{-u^2} is cut from the left at x_crit
/// (core skipping, Dijkstra et al. 2006, ApJ 649, 14): u = sqrt(x_crit^2 - ln r); x_crit = 0 is the plain Gaussian.
template <class V>
struct PerpendicularDraws {
  V minus_log;  ///< -ln r
  V cosine;     ///< of the angle to the plane, with its sign

  PerpendicularDraws() = default;
  /// `r` is uniform on (0, 1].
  THOR_FN PerpendicularDraws(V r, WordOf<V> angle_word)
      : minus_log(-log(r)), cosine(random_sign(cos_quarter_turn(uniform<V>(angle_word)), angle_word)) {}
};
template <class V>
THOR_FN V sample_perpendicular_velocity(V x_crit, const PerpendicularDraws<V>& draws) {
  return draws.cosine * sqrt(fma(x_crit, x_crit, draws.minus_log));
}

}  // namespace THOR_ISA
}  // namespace thor
