#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// A scattering angle: cosine and sine.
template <class V>
struct Deflection {
  V mu, sine;
};

/// A mixture of isotropic and dipole scattering, with weight E of the dipole 3/8 (1 + mu^2):
///
///   p(mu) = (1 - E/4) 1/2 + (E/4) 3/2 mu^2
///
/// E = 0 isotropic, E = 1 dipole, E = 1/3 the Lya core 11/24 + mu^2/8. Sampled without rejection or root: with
/// probability E/4 |mu| is the largest of three uniforms, of which two are drawn as one square root.
template <class V>
THOR_FN Deflection<V> sample_dipole_mixture(V quarter_E, WordOf<V> first, WordOf<V> second) {
  using Real = RealOf<V>;
  const V one(Real(1)), zero(Real(0));
  const V r = uniform<V>(first);
  const auto peaked = r < quarter_E;
  // Both ranges of r are stretched to [0, 1).
  const V rest = divide(r - select(peaked, zero, quarter_E), select(peaked, quarter_E, one - quarter_E));
  const V largest = max(rest, sqrt(uniform<V>(second)));
  const V mu = select(peaked, random_sign<V>(second) * largest, fma(rest, V(Real(2)), -one));
  return {mu, sqrt(max((one - mu) * (one + mu), zero))};
}

/// p(mu) of the mixture.
template <class V>
THOR_FN V dipole_mixture_pdf(V quarter_E, V mu) {
  using Real = RealOf<V>;
  return V(Real(0.5)) * (V(Real(1)) - quarter_E) + V(Real(1.5)) * quarter_E * mu * mu;
}

}  // namespace THOR_ISA
}  // namespace thor
