#pragma once
#include "thor/datasets/width.hpp"
#include "thor/distributions/parallel_velocity.hpp"
#include "thor/distributions/perpendicular_velocity.hpp"
#include "thor/distributions/phase_function.hpp"
#include "thor/interactors/core_skip.hpp"
#include "thor/interactors/interaction.hpp"
#include "thor/line/voigt.hpp"

namespace thor {

/// A single resonant line, as the kernel sees it. Frequencies and atom velocities are in thermal units; the numbers
/// here are those of the run's own thermal speed, which the width of the gas at the photon's place scales.
template <class R>
struct ResonantLine {
  using Real = R;
  static constexpr bool multiplet = false;
  Real a;                    ///< Voigt parameter
  Real inv_a;                ///< 1/a
  Real log_envelope;         ///< ln(1 + Y^2/a^2), see ParallelVelocity
  Real recoil;               ///< h nu_0/(m c v_th), 0 without recoil
  DipoleMixture<Real> core;  ///< phase function within |x_atom| < 0.2: E/4 = 1/12 for Lya
  DipoleMixture<Real> wing;  ///< and outside: 1/4
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

  /// Additional draws of a collision: none.
  struct Draws {};
  template <class Random>
  THOR_FN Draws draw(Random&) const {
    return {};
  }

  /// How the gas absorbs at a frequency.
  struct Absorption {
    V gaussian, cross_section;  ///< e^{-x^2}; over that at line centre
  };
  template <class Schemes, class Random, class Width = SameWidth<V>>
  THOR_FN Absorption absorb(const Schemes& schemes, V x, Random&, const Width& width = {}) const {
    const auto profile = schemes.voigt(width.over(V(data.a)), x);
    return {profile.gaussian, profile.H};
  }
  /// The cross section or a little less, in less time.
  template <class Width = SameWidth<V>>
  THOR_FN V cross_section_at_least(V x, const Width& width = {}) const {
    return voigt_at_least(width.over(V(data.a)), x);
  }
  /// d ln sigma/dx.
  template <class Width = SameWidth<V>>
  THOR_FN V slope(V x, const Absorption& absorption, const Width& width = {}) const {
    return voigt_slope(width.over(V(data.a)), x, absorption.gaussian, absorption.cross_section);
  }
  /// The distance to the nearest resonance, where it is large.
  template <class Width = SameWidth<V>>
  THOR_FN V detuning(V x, const Width& = {}) const {
    return x;
  }

  /// What was hit, and where the photon lies with respect to it.
  template <class Width>
  struct Target {
    V x, a;
    Width width;
  };
  template <class Width = SameWidth<V>>
  THOR_FN Target<Width> target(V x, const Width& width = {}) const {
    return {x, width.over(V(data.a)), width};
  }
  THOR_FN V strength(const auto&) const { return V(Real(1)); }  ///< over that of the first transition
  THOR_FN V x_crit(const CoreSkip<Real>& skip, const auto&) const { return V(skip.x_crit); }

  /// Sphere jumps: the largest optical depth of a sphere, and the frequency of an exit in the frame of the gas.
  THOR_FN V jump_depth(const auto& target) const {
    if (data.recoil > Real(0)) return jump_depth_of_recoil(recoil(target), target.a);
    return V(Real(1e30));
  }
  THOR_FN V recoil(const auto& target) const { return target.width.over(V(data.recoil)); }
  THOR_FN V frequency_at(const auto&, V x) const { return x; }

  /// The atom that the photon meets.
  struct Atom {
    V parallel;              ///< velocity along the photon
    DipoleMixture<V> phase;  ///< phase function at this detuning in the atom's frame
    Mask accepted;           ///< false: another proposal is needed
  };

  template <class Schemes, class Random>
  THOR_FN Atom prepare(const Schemes& schemes, const auto& target, V gaussian,
                       const typename Schemes::template ParallelDraws<V>& draws, const Draws&, Random& random) const {
    const ParallelVelocity<V> distribution{target.a, target.width.times(V(data.inv_a)),
                                           target.width.envelope(V(data.log_envelope))};
    const auto proposal = schemes.propose(distribution, target.x, gaussian, draws, random);
    return atom(target, proposal.u, V(Real(0)), proposal.accepted);
  }

  /// The atom of this velocity along the photon.
  THOR_FN Atom atom(const auto& target, V parallel, V, Mask accepted = Mask(true)) const {
    // Core and wing by the detuning in the atom's frame (Dijkstra & Loeb 2008, MNRAS 386, 492).
    const auto core = abs(target.x - parallel) < V(Real(0.2));
    return {parallel,
            {select(core, V(data.core.quarter_E), V(data.wing.quarter_E)),
             select(core, V(data.core.inverse), V(data.wing.inverse))},
            accepted};
  }

  /// x_out = x_in + u.(k_out - k_in) - recoil (1 - mu)   (paper, eq. doublelorentztransform)
  THOR_FN V frequency(const auto& target, const Atom& atom, V perpendicular, V mu, V sine) const {
    const V one(Real(1));
    return fma(perpendicular, sine, fma(atom.parallel + target.width.over(V(data.recoil)), mu - one, target.x));
  }

  THOR_FN Outcome<V> sample(const auto& target, const Atom& atom, V perpendicular, const DipoleDraws<V>& angle,
                            const Draws&) const {
    const Deflection<V> turn = sample_dipole_mixture(atom.phase, angle);
    return {turn.mu, turn.sine, frequency(target, atom, perpendicular, turn.mu, turn.sine)};
  }

  /// Towards a direction at cosine mu; `perpendicular` is the atom's velocity across the photon in the plane of both.
  THOR_FN Look<V> eval(const auto& target, const Atom& atom, V perpendicular, V mu) const {
    const V one(Real(1));
    const V sine = sqrt(max((one - mu) * (one + mu), V(Real(0))));
    return {V(Real(2)) * dipole_mixture_pdf(atom.phase.quarter_E, mu),
            frequency(target, atom, perpendicular, mu, sine)};
  }
};

template <class V>
THOR_FN ResonantLineView<V> view(const ResonantLine<RealOf<V>>& data) {
  return {data};
}

}  // namespace THOR_ISA
}  // namespace thor
