#pragma once
#include "thor/distributions/henyey_greenstein.hpp"
#include "thor/interactors/interaction.hpp"

namespace thor {

/// Dust that follows the gas, as the kernel sees it.
template <class R>
struct Dust {
  using Real = R;
  Real ratio;   ///< extinction over n sigma_0 of the first transition; 0: none
  Real albedo;  ///< share of scattering in the extinction
  Real g;       ///< <cos> of a scattering
};

inline namespace THOR_ISA {

/// Whether a collision is with dust, and whether that absorbs the photon.
template <class V>
struct DustCollision {
  MaskOf<V> hit, absorbed;
};

/// One draw decides both: `share` is dust's part of the opacity, `fine` a uniform number that resolves 1e-10, since in
/// the line core the share may be that small.
template <class V>
THOR_FN DustCollision<V> collide_with_dust(const Dust<RealOf<V>>& data, MaskOf<V> arrived, V share, V fine) {
  const auto dust = arrived && fine <= share;
  return {dust, dust && fine > V(data.albedo) * share};
}

/// The outcome of collisions of which some are with dust, which keeps the frequency x in the frame of the gas.
template <class V>
THOR_FN Outcome<V> scatter_off_dust(const Dust<RealOf<V>>& data, Outcome<V> outcome, MaskOf<V> dust, V x,
                                    WordOf<V> word) {
  const Deflection<V> turn = sample_henyey_greenstein(V(data.g), word);
  outcome.mu = select(dust, turn.mu, outcome.mu);
  outcome.sine = select(dust, turn.sine, outcome.sine);
  outcome.x = select(dust, x, outcome.x);
  return outcome;
}

}  // namespace THOR_ISA
}  // namespace thor
