#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// x with the density of a Lorentzian of half width 1 that is cut at its far wings,
///
///   p(x) = 1/(pi (1 - t)) / (1 + x^2)  for |x| < cot(pi t/2),
///
/// where t is the share of the light that is cut off. x = +-cot(pi u/2) with u uniform on (t, 1]: a tangent near pi/2
/// would lose everything in single precision, the small u of the wings are resolved.
template <class V>
THOR_FN V sample_lorentzian(V t, WordOf<V> word) {
  using Real = RealOf<V>;
  const V u = fma(uniform_positive<V>(word), V(Real(1)) - t, t);
  return random_sign(divide(cos_quarter_turn(u), sin_quarter_turn(u)), word);
}

}  // namespace THOR_ISA
}  // namespace thor
