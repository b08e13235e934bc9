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
/// E = 0 isotropic, E = 1 dipole, E = 1/3 the Lya core 11/24 + mu^2/8. Sampled without rejection: with probability E/4
/// |mu| is the largest of three uniforms, of which two are drawn as one square root and the third is what is left of
/// the choice; else mu is uniform.
template <class R>
struct DipoleMixture {
  R quarter_E;  ///< E/4
  R inverse;    ///< of the probability of the peaked part: 4/E, 2/|E| for E < 0, or 0
};
template <class V>
THOR_FN DipoleMixture<V> dipole_mixture(double quarter_E) {
  using Real = RealOf<V>;
  const double peaked = quarter_E < 0 ? -2 * quarter_E : quarter_E;
  return {V(Real(quarter_E)), V(Real(peaked > 0 ? 1 / peaked : 0))};
}

template <class V>
struct DipoleDraws {
  V choice;
  V larger;  ///< the larger of two uniforms, with a random sign
  V flat;    ///< uniform on [-1, 1)

  DipoleDraws() = default;
  THOR_FN DipoleDraws(WordOf<V> first, WordOf<V> second)
      : choice(uniform<V>(first)),
        larger(random_sign(sqrt(uniform<V>(second)), second)),
        flat(fma(uniform<V>(second), V(RealOf<V>(2)), V(RealOf<V>(-1)))) {}
};

template <class V>
THOR_FN Deflection<V> sample_dipole_mixture(const DipoleMixture<V>& mixture, const DipoleDraws<V>& draws) {
  using Real = RealOf<V>;
  const V one(Real(1)), zero(Real(0));
  const auto peaked = draws.choice < mixture.quarter_E;
  const V largest = copysign(max(draws.choice * mixture.inverse, abs(draws.larger)), draws.larger);
  const V mu = select(peaked, largest, draws.flat);
  return {mu, sqrt(max((one - mu) * (one + mu), zero))};
}

/// The same for a share E of either sign, as fluorescence has it: with E < 0 the flat part 1/2 is left with 1 - |E|/2,
/// and |E|/2 goes to 3/4 (1 - mu^2), the height of a point uniform in a ball: a radius that is the largest of three
/// uniforms, times a cosine `flat`, uniform on [-1, 1).
template <class V>
THOR_FN Deflection<V> sample_signed_dipole(const DipoleMixture<V>& mixture, const DipoleDraws<V>& draws, V flat) {
  using Real = RealOf<V>;
  const V one(Real(1)), zero(Real(0));
  const auto across = mixture.quarter_E < zero;
  const auto peaked = draws.choice < select(across, V(Real(-2)) * mixture.quarter_E, mixture.quarter_E);
  const V largest = copysign(max(draws.choice * mixture.inverse, abs(draws.larger)), draws.larger);
  const V mu = select(peaked, select(across, flat * largest, largest), draws.flat);
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
