#pragma once
#include "thor/distributions/henyey_greenstein.hpp"
#include "thor/distributions/parallel_velocity.hpp"
#include "thor/distributions/perpendicular_velocity.hpp"
#include "thor/distributions/phase_function.hpp"

namespace thor {

/// A single resonant line with dust, as the kernel sees it. Frequencies and atom velocities are in thermal units.
template <class R>
struct ResonantLine {
  using Real = R;
  Real a;                    ///< Voigt parameter
  Real inv_a;                ///< 1/a
  Real log_envelope;         ///< ln(1 + Y^2/a^2), see ParallelVelocity
  Real recoil;               ///< h nu_0/(m c v_th), 0 without recoil
  DipoleMixture<Real> core;  ///< phase function within |x_atom| < 0.2: E/4 = 1/12 for Lya
  DipoleMixture<Real> wing;  ///< and outside: 1/4
  Real dust_ratio;           ///< dust extinction over n sigma_0
  Real albedo;               ///< share of scattering in the dust's extinction
  Real g;                    ///< <cos> of dust scattering
};

inline namespace THOR_ISA {

/// What a collision does. Drawn in two parts: prepare() proposes the atom's velocity, which is shared by the scattered
/// photon and by any look towards an observer; sample() draws the new direction and frequency; eval() gives weight and
/// frequency for a given direction.
template <class V>
struct ResonantLineView {
  using Real = RealOf<V>;
  using Word = WordOf<V>;
  using Mask = MaskOf<V>;
  const ResonantLine<Real>& data;

  /// The atom that the photon meets.
  struct Atom {
    V parallel;              ///< velocity along the photon
    DipoleMixture<V> phase;  ///< phase function at this detuning in the atom's frame
    Mask accepted;           ///< false: another proposal is needed
  };
  struct Outcome {
    V mu, sine;  ///< scattering angle
    V x;         ///< new frequency in the gas frame
  };

  THOR_FN Atom prepare(V x, V gaussian, const typename ParallelVelocity<V>::Draws& draws, Xoshiro128<V>& random) const {
    const ParallelVelocity<V> distribution{V(data.a), V(data.inv_a), V(data.log_envelope)};
    const auto proposal = distribution.propose(x, gaussian, draws, random);
    // Core and wing by the detuning in the atom's frame (Dijkstra & Loeb 2008, MNRAS 386, 492).
    const auto core = abs(x - proposal.u) < V(Real(0.2));
    return {proposal.u,
            {select(core, V(data.core.quarter_E), V(data.wing.quarter_E)),
             select(core, V(data.core.inverse), V(data.wing.inverse))},
            proposal.accepted};
  }

  /// x_out = x_in + u.(k_out - k_in) - recoil (1 - mu)   (paper, eq. doublelorentztransform)
  THOR_FN V frequency(V x, const Atom& atom, V perpendicular, V mu, V sine) const {
    const V one(Real(1));
    return fma(perpendicular, sine, fma(atom.parallel + V(data.recoil), mu - one, x));
  }

  THOR_FN Outcome sample(V x, const Atom& atom, V perpendicular, const DipoleDraws<V>& draws) const {
    const Deflection<V> turn = sample_dipole_mixture(atom.phase, draws);
    return {turn.mu, turn.sine, frequency(x, atom, perpendicular, turn.mu, turn.sine)};
  }

  struct Look {
    V weight;  ///< probability per unit solid angle, times 4 pi
    V x;
  };
  /// Towards a direction at cosine mu; `perpendicular` is the atom's velocity across the photon in the plane of both.
  THOR_FN Look eval(V x, const Atom& atom, V perpendicular, V mu) const {
    const V one(Real(1));
    const V sine = sqrt(max((one - mu) * (one + mu), V(Real(0))));
    return {V(Real(2)) * dipole_mixture_pdf(atom.phase.quarter_E, mu), frequency(x, atom, perpendicular, mu, sine)};
  }

  /// Dust scatters without change of frequency in the gas frame.
  THOR_FN Outcome sample_dust(V x, Word word) const {
    const Deflection<V> turn = sample_henyey_greenstein(V(data.g), word);
    return {turn.mu, turn.sine, x};
  }
};

}  // namespace THOR_ISA
}  // namespace thor
