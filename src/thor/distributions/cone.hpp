#pragma once
#include "thor/distributions/phase_function.hpp"

namespace thor {
inline namespace THOR_ISA {

/// Uniform over the solid angle of a cone that is a `share` s = (1 - cos theta)/2 of all directions: 1 - mu is uniform
/// from 0 to 2 s, p(mu) = 1/(2 s). The sine is free of cancellation in narrow cones.
template <class V>
THOR_FN Deflection<V> sample_cone(V share, WordOf<V> word) {
  using Real = RealOf<V>;
  const V two(Real(2)), one_minus_mu = two * share * uniform<V>(word);
  return {V(Real(1)) - one_minus_mu, sqrt(one_minus_mu * (two - one_minus_mu))};
}

}  // namespace THOR_ISA
}  // namespace thor
