#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The velocity of the scattering atom along the photon, in thermal units:
///
///   p(u) ~ e^{-u^2}/((x-u)^2 + a^2)        (paper, eq. u_parallel; its norm is (pi/a) H(a, x))
///
/// One call is one proposal of an exact rejection sampler made for straight-line code: no loop, no arctangent. For
/// x >= 0, with y = x - u, the target is split at the height of the Gaussian at the resonance,
///
///   e^{-u^2} = min(e^{-u^2}, e^{-x^2}) + (e^{-u^2} - e^{-x^2})_+ ,
///
/// and sampled as a mixture of three, chosen by the mass of their envelopes:
///
///   peak  the first term: a Lorentzian about x; accepted with min(1, e^{x^2-u^2}), nearly always
///   log   the second term: e^{-u^2} - e^{-x^2} <= S y (a chord), so the envelope is S y/(y^2 + a^2) on 0 < y < Y,
///         sampled as y^2 = a^2 (e^{r Lambda} - 1), Lambda = ln(1 + Y^2/a^2)
///   wing  for x >= 2.2, everything left of the saddle u_2 = (x + sqrt(x^2-4))/2 of e^{-u^2}/(x-u)^2 (peak and log then
///         end there): two half Gaussians about the mode q = 1/u_2, of widths sigma_L and sigma_R such that they lie
///         above the target
///
/// Acceptance is above 0.92 for every x at a < 5e-4, above 0.56 at a = 1e-2; that of the classical split at u_0 (Zheng
/// & Miralda-Escude 2002), which also needs an arctangent, falls to 0.14 at x = 3.
template <class V>
struct ParallelVelocity {
  using Real = RealOf<V>;
  using Word = WordOf<V>;
  using Mask = MaskOf<V>;

  static constexpr Real wing_from = Real(2.2);  ///< the mixture has a wing from here on
  static constexpr Real log_reach = Real(4.4);  ///< Y: twice wing_from, so that u = -x is reached

  V a;       ///< Voigt parameter
  V inv_a;   ///< 1/a
  V lambda;  ///< ln(1 + Y^2/a^2)

  /// What a proposal draws, as far as it does not depend on x.
  struct Draws {
    V choice, r;
    V cotangent;  ///< cot(pi r/2) with a random sign; r -> 0 is the far tail, where r has its full resolution

    Draws() = default;
    THOR_FN Draws(Word choice_word, Word proposal_word)
        : Draws(uniform_positive<V>(choice_word), uniform_positive<V>(proposal_word), proposal_word) {}
    /// From uniforms on (0, 1]; the lowest bit of the word is the sign.
    THOR_FN Draws(V choice, V r, Word sign)
        : choice(choice), r(r), cotangent(random_sign(divide(cos_quarter_turn(r), sin_quarter_turn(r)), sign)) {}
  };
  struct Proposal {
    V u;
    Mask accepted;
  };

  /// `gaussian` is e^{-x^2}, which the caller has from the Voigt profile. In the wing one more word is drawn.
  /// `squeezed`: the exponential of the test is at first taken to 7.6e-5 only, and in full where that cannot decide:
  /// the outcome is the same.
  template <bool squeezed = false, class Random>
  THOR_FN Proposal propose(V x, V gaussian, const Draws& draws, Random& random) const {
    const V zero(Real(0)), one(Real(1)), half(Real(0.5)), inverse_pi(Real(0.3183098861837907));
    const V ax = abs(x);
    const Mask in_wing = ax >= V(wing_from);

    // Chord slope in the core: max over u of (e^{-u^2}-e^{-x^2})/(x-u) is at most sqrt(2/e) and below 1.054/x; the line
    // is above both for x < 2.2.
    const V slope = min(V(Real(0.86)), fma(ax, V(Real(-0.398)), V(Real(1.3575))));
    const V peak_mass = V(Real(3.141592653589793)) * gaussian * inv_a;
    V log_mass = half * slope * lambda;

    // The rarest comes first: where a number is small, its steps are. What is left of the choice, as a share of the
    // mass of the component, is uniform again and decides on acceptance: where e^{deviate^2 - u^2} - floor >=
    // threshold.
    V choice = draws.choice * (peak_mass + log_mass);
    Mask logarithmic = choice < log_mass;
    V u = fma(-a, draws.cotangent, ax), floor = zero, deviate = zero;
    V threshold = (choice - log_mass) * (inverse_pi * a);
    Mask possible(true);
    if (any(in_wing || logarithmic)) {  // one branch for all that is rare
      V lowest = -ax;
      if (any(in_wing)) {
        const V u_2 = half * (ax + sqrt(max(fma(ax, ax, V(Real(-4))), V(Real(0.25)))));
        const V mode = divide(one, u_2), s = mode * mode;
        // Left of the mode (-ln p)'' >= 2 (1 - q^2): sigma_L = 1/sqrt(1 - q^2), here bounded from above. Right of it
        // the parabola through mode and saddle: 1/sigma_R^2 = (1 - s^2 + 2 s ln s)/(1 - s)^2, bounded for q < 0.642.
        const V sigma_left = polynomial(s, 1., 0.5, 0.375, 0.6);
        const V sigma_right = V(Real(1.0025)) * polynomial(mode, 1., 0.08051006, 3.52444483, -6.32453207, 6.1259843);
        // p at the mode is s e^{-s}; the mass of a half Gaussian is sqrt(pi)/2 sigma times its height.
        const V mass = V(Real(0.8862269254527580)) * s * polynomial(s, 1., -1., 0.5);
        const V left_mass = mass * sigma_left;
        // The chord's slope here is at most x (e^{2+q^2} - 1) e^{-x^2} <= 10.16 x e^{-x^2}: e^{-u_2^2} = e^{2+q^2-x^2},
        // q < 0.642, 1/q < x.
        log_mass = select(in_wing, half * (V(Real(10.2)) * ax * gaussian) * lambda, log_mass);
        const V before_wing = log_mass + peak_mass;
        choice = select(in_wing, draws.choice * fma(mass, sigma_left + sigma_right, before_wing), choice);
        logarithmic = choice < log_mass;
        threshold = (choice - log_mass) * (inverse_pi * a);
        lowest = select(in_wing, u_2, lowest);
        possible = !in_wing || u >= u_2;

        Random next = random;
        const Word word = next.next();
        random = select(in_wing, next, random);
        const Mask wing = in_wing && choice >= before_wing;
        const V rest = choice - before_wing;
        const Mask left = rest < left_mass;
        const V sigma = select(left, sigma_left, sigma_right);
        const V d = sqrt(-log(draws.r)) * cos_quarter_turn(uniform<V>(word));
        const V u_wing = fma(select(left, -sigma, sigma), d, mode), y = ax - u_wing;
        const V share =
            divide(V(Real(1.1283791670955126)) * (rest - select(left, zero, left_mass)), select(wing, sigma, one));
        u = select(wing, u_wing, u);
        threshold = select(wing, share * fma(y, y, a * a), threshold);
        deviate = select(wing, d, zero);
        possible = (wing && u_wing < u_2) || (!wing && possible);
      }
      if (any(logarithmic)) {
        const V y = a * sqrt(max(exp(draws.r * lambda) - one, zero)), u_log = ax - y;
        u = select(logarithmic, u_log, u);
        threshold = select(logarithmic, choice * divide(y + y, lambda), threshold);
        floor = select(logarithmic, gaussian, floor);
        possible = (logarithmic && u_log >= lowest) || (!logarithmic && possible);
      }
    }
    // No choice is so lucky as to accept a velocity beyond 8.
    const V least = max(threshold, V(Real(1e-30)));
    const Mask above = exceeds<squeezed>(fma(deviate, deviate, -u * u), floor, least, possible);
    return {copysign(one, x) * u, possible && above};
  }

 private:
  /// Whether e^exponent - floor >= least, where that matters.
  template <bool squeezed>
  static THOR_FN Mask exceeds(V exponent, V floor, V least, Mask matters) {
    if constexpr (squeezed) {
      const V about = fast_exp(exponent);
      Mask above = fma(about, V(Real(1 - 1e-4)), -floor) >= least;
      const Mask unsure = matters && !above && fma(about, V(Real(1 + 1e-4)), -floor) >= least;
      if (any(unsure)) above = above || (unsure && exp_bounded(exponent) - floor >= least);
      return above;
    } else {
      return exp_bounded(exponent) - floor >= least;
    }
  }
};

}  // namespace THOR_ISA
}  // namespace thor
