#pragma once
#include "thor/datasets/width.hpp"
#include "thor/distributions/parallel_velocity.hpp"
#include "thor/distributions/perpendicular_velocity.hpp"
#include "thor/distributions/phase_function.hpp"
#include "thor/interactors/core_skip.hpp"
#include "thor/interactors/interaction.hpp"
#include "thor/line/line.hpp"
#include "thor/line/voigt.hpp"

/// Several transitions that absorb side by side, of one ion or of isotopes, and the channels of their decay.
///
/// Cross-sections add up: sigma = sum_i s_i H(a_i, y_i), y_i = (x - x_i)/w_i, with x_i = c ln(nu_i/nu_0) and the
/// thermal speed w_i in units of that of the first transition. What absorbs is chosen by its share. The upper level
/// decays by its branching into the resonant channel or into a fluorescent one, to another level of the ground term:
/// then the frequency in the atom's frame drops by the difference of the levels and keeps its detuning,
/// nu_out - nu_f = nu_atom - nu_i.
namespace thor {

/// An absorbing transition.
template <class Real>
struct Transition {
  Real offset;                     ///< x_i = c ln(nu_i/nu_0)
  Real width, inverse_width;       ///< its thermal speed w_i, and 1/w_i
  Real strength;                   ///< s_i: opacity at line centre over that of the first transition
  Real a, inv_a;                   ///< Voigt parameter
  Real log_envelope;               ///< ln(1 + Y^2/a^2), see ParallelVelocity
  Real recoil;                     ///< h nu_i/(m c v_th), of its own speed
  Real x_crit;                     ///< of core skipping, where it is not local
  Real clearance;                  ///< distance to the nearest other line, in its thermal widths; 0: it does not jump
  Real isotope, isotope_share;     ///< the same to the nearest line of a rare isotope, and the abundance of that
  DipoleMixture<Real> core, wing;  ///< of the resonant channel, within |y_atom| < 0.2 and outside
};

/// A decay of the upper level that does not lead back to the lower one.
template <class Real>
struct Channel {
  int transition;             ///< that absorbed
  Real from, to;              ///< its part of [0, 1)
  Real shift;                 ///< c ln(nu_f/nu_i)
  Real stretch;               ///< nu_i/nu_f: a detuning in frequency is that much more in velocity
  DipoleMixture<Real> phase;  ///< phase function
};

/// What no transition of a run needs is left out by branches that are the same for all lanes; a `Pair`, two transitions
/// of one ion without fluorescence, recoil and core, has none of them and a kernel of its own.
template <class R, bool Pair = false>
struct Multiplet {
  using Real = R;
  static constexpr bool multiplet = true;
  int transitions, channels;
  bool isotopes;   ///< some width is not 1
  bool recoils;    ///< some recoil is not 0
  bool core_wing;  ///< some phase function differs between core and wing
  Transition<Real> transition[most_transitions];
  Channel<Real> channel[most_channels];
};

inline namespace THOR_ISA {

template <class V, bool Pair = false>
struct MultipletView {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Word = WordOf<V>;
  using Mask = MaskOf<V>;
  const Multiplet<Real, Pair>& data;

  THOR_FN int transitions() const { return Pair ? 2 : data.transitions; }
  THOR_FN int channels() const { return Pair ? 0 : data.channels; }
  THOR_FN bool isotopes() const { return !Pair && data.isotopes; }
  THOR_FN bool recoils() const { return !Pair && data.recoils; }
  THOR_FN bool core_wing() const { return !Pair && data.core_wing; }

  struct Draws {
    V channel, flat;  ///< where there is fluorescence: which channel; uniform on [-1, 1)
  };
  template <class Random>
  THOR_FN Draws draw(Random& random) const {
    Draws draws{V(Real(0)), V(Real(0))};
    if (channels() > 0) {
      draws.channel = uniform<V>(random.next());
      draws.flat = fma(uniform<V>(random.next()), V(Real(2)), V(Real(-1)));
    }
    return draws;
  }

  struct Absorption {
    V gaussian;  ///< e^{-y^2} of the transition that absorbs, if one does
    V cross_section;
    Int chosen;  ///< that transition
    V H;         ///< its profile
  };
  THOR_FN V local(V x, const Transition<Real>& t, const auto& width) const {
    const V y = x - width.over(V(t.offset));
    return isotopes() ? y * V(t.inverse_width) : y;
  }
  /// One pass: transition i takes the choice from those before it with its share of the sum so far.
  template <class Schemes, class Random, class Width = SameWidth<V>>
  THOR_FN Absorption absorb(const Schemes& schemes, V x, Random& random, const Width& width = {}) const {
    const Transition<Real>& first = data.transition[0];
    const auto profile = schemes.voigt(width.over(V(first.a)), local(x, first, width));
    Absorption sum{profile.gaussian, V(first.strength) * profile.H, Int(0), profile.H};
    for (int i = 1; i < transitions(); ++i) {
      const Transition<Real>& t = data.transition[i];
      const auto other = schemes.voigt(width.over(V(t.a)), local(x, t, width));
      const V more = V(t.strength) * other.H;
      sum.cross_section = sum.cross_section + more;
      const Mask takes = uniform_positive<V>(random.next()) * sum.cross_section <= more;
      sum.gaussian = select(takes, other.gaussian, sum.gaussian);
      sum.chosen = select(takes, Int(i), sum.chosen);
      sum.H = select(takes, other.H, sum.H);
    }
    return sum;
  }
  /// The cross section or a little less, in less time.
  template <class Width = SameWidth<V>>
  THOR_FN V cross_section_at_least(V x, const Width& width = {}) const {
    V sum(Real(0));
    for (int i = 0; i < transitions(); ++i) {
      const Transition<Real>& t = data.transition[i];
      sum = fma(V(t.strength), voigt_at_least(width.over(V(t.a)), local(x, t, width)), sum);
    }
    return sum;
  }
  /// d ln sigma/dx of the transition that absorbs: the mean of its choice is that of the sum.
  template <class Width = SameWidth<V>>
  THOR_FN V slope(V x, const Absorption& absorption, const Width& width = {}) const {
    using T = Transition<Real>;
    const auto of = [&](Real T::*member) THOR_INLINE_LAMBDA { return value_of(member, absorption.chosen); };
    V y = x - width.over(of(&T::offset)), scale(Real(1));
    if (isotopes()) scale = of(&T::inverse_width), y = y * scale;
    return scale * voigt_slope(width.over(of(&T::a)), y, absorption.gaussian, absorption.H);
  }
  template <class Width = SameWidth<V>>
  THOR_FN V detuning(V x, const Width& width = {}) const {
    V nearest = abs(x - width.over(V(data.transition[0].offset)));
    for (int i = 1; i < transitions(); ++i) nearest = min(nearest, abs(x - width.over(V(data.transition[i].offset))));
    return nearest;
  }

  /// What was hit: the transition of each lane.
  template <class Width>
  struct Target {
    Int index;
    V x;  ///< y_i
    V offset, width, a, inv_a, log_envelope, recoil;
    DipoleMixture<V> core, wing;
    Width gas;
  };
  template <class Width = SameWidth<V>>
  THOR_FN Target<Width> target(V x, Int index, const Width& gas = {}) const {
    const auto of = [&](Real Transition<Real>::*member) { return value_of(member, index); };
    using T = Transition<Real>;
    Target<Width> t;
    t.gas = gas;
    t.index = index;
    t.offset = gas.over(of(&T::offset));
    t.x = x - t.offset;
    t.width = V(Real(1));
    if (isotopes()) {
      t.width = of(&T::width);
      t.x = t.x * of(&T::inverse_width);
    }
    t.a = gas.over(of(&T::a));
    t.inv_a = gas.times(of(&T::inv_a));
    t.log_envelope = gas.envelope(of(&T::log_envelope));
    t.recoil = V(Real(0));
    if (recoils()) t.recoil = gas.over(of(&T::recoil));
    t.core = phase(&T::core, index);
    t.wing = t.core;
    if (core_wing()) t.wing = phase(&T::wing, index);
    return t;
  }
  THOR_FN V strength(const auto& target) const { return value_of(&Transition<Real>::strength, target.index); }
  THOR_FN V x_crit(const CoreSkip<Real>&, const auto& target) const {
    return value_of(&Transition<Real>::x_crit, target.index);
  }

  /// The largest optical depth of a sphere jump. Exits of a depth tau lie within 8 (a tau)^{1/3} thermal widths of this
  /// gas, or 20 for small a tau: they stay on this side of the middle to another line.
  THOR_FN V jump_depth(const auto& target) const {
    const V half = V(Real(0.5)) * target.gas.over(value_of(&Transition<Real>::clearance, target.index));
    const V root = V(Real(1. / 8)) * half;
    V depth = select(half < V(Real(20)), V(Real(0)), root * root * root * target.inv_a);
    if (isotopes()) depth = min(depth, jump_depth_of_isotope(target));
    if (recoils()) depth = min(depth, jump_depth_of_recoil(target.recoil, target.a));
    return depth;
  }
  /// The depth of a sphere in which a photon meets a rare isotope with a probability of 0.01. Its mean path per unit of
  /// x is p tau, and the isotope, of share s, absorbs s sqrt(pi) p tau of the photons: about each of 2 tau scatterings
  /// sends a/(pi x^2) photons across the sphere at x, for |x| beyond the core; in the core p is 1.5.
  THOR_FN V jump_depth_of_isotope(const auto& target) const {
    const V share = max(value_of(&Transition<Real>::isotope_share, target.index), V(Real(1e-30)));
    const V x = target.gas.over(value_of(&Transition<Real>::isotope, target.index));
    const V near = divide(V(Real(0.01 / 2.6587)), share);
    const V far = x * sqrt(divide(V(Real(0.01 * 1.7725 / 2)), share * target.a));
    return select(x < V(Real(4.5)), near, max(near, far));
  }
  THOR_FN V recoil(const auto& target) const { return target.recoil; }
  THOR_FN V frequency_at(const auto& target, V y) const { return fma(target.width, y, target.offset); }

  /// The atom that the photon meets, and the channel by which it will decay.
  struct Atom {
    V parallel;
    DipoleMixture<V> phase;
    V shift, stretch;
    Mask accepted;
  };
  template <class Schemes, class Random>
  THOR_FN Atom prepare(const Schemes& schemes, const auto& target, V gaussian,
                       const typename Schemes::template ParallelDraws<V>& parallel, const Draws& draws,
                       Random& random) const {
    const ParallelVelocity<V> distribution{target.a, target.inv_a, target.log_envelope};
    const auto proposal = schemes.propose(distribution, target.x, gaussian, parallel, random);
    Atom atom = this->atom(target, proposal.u, draws.channel);
    atom.accepted = proposal.accepted;
    return atom;
  }

  /// The atom of this velocity along the photon, which decays by the channel that was drawn.
  THOR_FN Atom atom(const auto& target, V parallel, V drawn) const {
    Atom atom{parallel, target.core, V(Real(0)), V(Real(1)), Mask(true)};
    if (core_wing()) {
      const Mask core = abs(target.x - parallel) < V(Real(0.2));
      atom.phase = {select(core, target.core.quarter_E, target.wing.quarter_E),
                    select(core, target.core.inverse, target.wing.inverse)};
    }
    for (int c = 0; c < channels(); ++c) {
      const Channel<Real>& channel = data.channel[c];
      const Mask is = equal<V>(target.index, channel.transition) && drawn >= V(channel.from) && drawn < V(channel.to);
      atom.phase = {select(is, V(channel.phase.quarter_E), atom.phase.quarter_E),
                    select(is, V(channel.phase.inverse), atom.phase.inverse)};
      atom.shift = select(is, V(channel.shift), atom.shift);
      atom.stretch = select(is, V(channel.stretch), atom.stretch);
    }
    return atom;
  }

  /// y_out = (nu_i/nu_f)(y_in - u.k_in) + u.k_out - recoil (1 - mu), about the line of the channel.
  THOR_FN V frequency(const auto& target, const Atom& atom, V perpendicular, V mu, V sine) const {
    const V one(Real(1));
    const V detuning = atom.stretch * (target.x - atom.parallel);
    const V y = fma(perpendicular, sine, fma(atom.parallel, mu, fma(target.recoil, mu - one, detuning)));
    return fma(target.width, y, target.offset + target.gas.over(atom.shift));
  }

  THOR_FN Outcome<V> sample(const auto& target, const Atom& atom, V perpendicular, const DipoleDraws<V>& angle,
                            const Draws& draws) const {
    const Deflection<V> turn =
        channels() > 0 ? sample_signed_dipole(atom.phase, angle, draws.flat) : sample_dipole_mixture(atom.phase, angle);
    return {turn.mu, turn.sine, frequency(target, atom, perpendicular, turn.mu, turn.sine)};
  }

  THOR_FN Look<V> eval(const auto& target, const Atom& atom, V perpendicular, V mu) const {
    const V one(Real(1));
    const V sine = sqrt(max((one - mu) * (one + mu), V(Real(0))));
    return {V(Real(2)) * dipole_mixture_pdf(atom.phase.quarter_E, mu),
            frequency(target, atom, perpendicular, mu, sine)};
  }

 private:
  /// A number of each lane's own transition.
  THOR_FN V value_of(Real Transition<Real>::*member, Int index) const {
    V value(data.transition[0].*member);
    for (int i = 1; i < transitions(); ++i) {
      value = select(equal<V>(index, i), V(data.transition[i].*member), value);
    }
    return value;
  }
  THOR_FN DipoleMixture<V> phase(DipoleMixture<Real> Transition<Real>::*member, Int index) const {
    DipoleMixture<V> value{V((data.transition[0].*member).quarter_E), V((data.transition[0].*member).inverse)};
    for (int i = 1; i < transitions(); ++i) {
      const DipoleMixture<Real>& other = data.transition[i].*member;
      const Mask is = equal<V>(index, i);
      value = {select(is, V(other.quarter_E), value.quarter_E), select(is, V(other.inverse), value.inverse)};
    }
    return value;
  }
};

template <class V, bool Pair>
THOR_FN MultipletView<V, Pair> view(const Multiplet<RealOf<V>, Pair>& data) {
  return {data};
}

}  // namespace THOR_ISA
}  // namespace thor
