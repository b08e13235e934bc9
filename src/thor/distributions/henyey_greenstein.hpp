#pragma once
#include "thor/distributions/phase_function.hpp"

namespace thor {
inline namespace THOR_ISA {

/// Henyey & Greenstein (1941): p(mu) = (1 - g^2)/(2 (1 + g^2 - 2 g mu)^{3/2}), <mu> = g.
/// Inversion in product form, free of cancellation from g = 0 to |g| = 0.999 and beyond: with D = 1 - g + 2 g r,
///   1 - mu = (1 - g)^2 (1 - r) (1 + g + D)/D^2 ,   for g >= 0; g < 0 is the mirror image.
template <class V>
THOR_FN Deflection<V> sample_henyey_greenstein(V g, WordOf<V> word) {
  using Real = RealOf<V>;
  const V one(Real(1)), two(Real(2)), zero(Real(0));
  const V ag = abs(g);
  const V r = uniform<V>(word);
  const V d = fma(two * ag, r, one - ag);
  const V h = divide(one - ag, d);
  const V one_minus_mu = min(h * h * (one - r) * (one + ag + d), two);
  const V mu = one - one_minus_mu;
  return {copysign(one, g) * mu, sqrt(max(one_minus_mu * (two - one_minus_mu), zero))};
}

/// Probability per unit solid angle of a deflection by mu, times 4 pi; 1 + g^2 - 2 g mu is written without
/// cancellation.
template <class V>
THOR_FN V henyey_greenstein(V g, V mu) {
  const V one(RealOf<V>(1)), ag = abs(g);
  const V q = fma(V(RealOf<V>(2)) * ag, max(one - copysign(mu, mu * g), V(RealOf<V>(0))), (one - ag) * (one - ag));
  return divide((one - g) * (one + g), q * sqrt(q));
}

}  // namespace THOR_ISA
}  // namespace thor
