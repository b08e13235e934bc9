#pragma once
#include "thor/distributions/parallel_velocity.hpp"
#include "thor/line/core_wing.hpp"

/// The published samplers of the atom's velocity along the photon (paper, section 3.3 and appendix A.1), with the
/// interface of ParallelVelocity: one call is one proposal. Each holds what depends on a alone, and is made by
///   make(a)                        from the Voigt parameter
///   from(const ParallelVelocity&)  from what a run holds already, without a logarithm
namespace thor {
inline namespace THOR_ISA {

template <class V>
struct ParallelProposal {
  V u;
  MaskOf<V> accepted;
};

/// Two uniform numbers, and a bit that says in which half of its range an angle lies: r is its place within that half.
template <class V>
struct ParallelUniforms {
  V choice, r;
  MaskOf<V> late;

  ParallelUniforms() = default;
  THOR_FN ParallelUniforms(WordOf<V> choice_word, WordOf<V> proposal_word)
      : ParallelUniforms(uniform_positive<V>(choice_word), uniform_positive<V>(proposal_word), proposal_word) {}
  THOR_FN ParallelUniforms(V choice, V r, WordOf<V> half) : choice(choice), r(r), late(bit_set<V>(half, 1u)) {}
};

/// ln a of a run's sampler: lambda = ln(1 + Y^2/a^2), so ln a = ln Y - lambda/2 except for a^2/(2 Y^2), which no u_0
/// feels.
template <class V>
THOR_FN V ln_a_of(const ParallelVelocity<V>& run) {
  using Real = RealOf<V>;
  return fma(V(Real(-0.5)), run.lambda, V(Real(1.4816045409242156)));  // Y = 4.4
}

// ---- a cut at u_0 ---------------------------------------------------------------------------------------------------

/// The rejection of Zheng & Miralda-Escude 2002 (ApJ 578, 33; paper, eq. uparallel_comparisonfunc) for x >= 0 and a cut
/// u_0 >= 0: the envelope is L(u) = 1/((x-u)^2 + a^2) for u <= u_0 and e^{-u_0^2} L(u) beyond, accepted with e^{-u^2}
/// and e^{u_0^2-u^2}. In the angle psi = arccot((x-u)/a), from 0 at u = -infinity to pi, either side is uniform.
///
/// Digits are kept where the angles are small: each side is measured from its far end, by the half that ends at the cut
/// from there, and beyond pi/2 by the complement to pi.
template <class V>
THOR_FN ParallelProposal<V> propose_by_cut(V a, V x, V u_0, const ParallelUniforms<V>& draws, WordOf<V> accept_word) {
  using Real = RealOf<V>;
  using Mask = MaskOf<V>;
  const V half(Real(0.5)), half_pi(Real(1.5707963267948966));
  const V below = x - u_0;
  const V narrow = atan(divide(a, max(abs(below), V(Real(1e-20))))), wide = V(Real(3.141592653589793)) - narrow;
  const Mask before_peak = below > V(Real(0));
  const V left_angle = select(before_peak, narrow, wide), right_angle = select(before_peak, wide, narrow);
  const V right_mass = exp_bounded(-u_0 * u_0) * right_angle;
  // The rarer side comes first: where a number is small, its steps are.
  const Mask rarer = draws.choice * (left_angle + right_mass) < min(left_angle, right_mass);
  const Mask left = rarer == (left_angle < right_mass);

  const V range = select(left, left_angle, right_angle), rest = select(left, right_angle, left_angle);
  const V part = half * draws.r * range;
  const V angle = select(draws.late, range - part, part);
  const Mask obtuse = angle > half_pi;  // then `late` too
  const V turn = V(Real(0.6366197723675814)) * select(obtuse, rest + part, angle);
  const V y = a * divide(cos_quarter_turn(turn), sin_quarter_turn(turn));
  const V u = x - select(left != obtuse, y, -y);

  const V reference = select(left, V(Real(0)), u_0);
  return {u, uniform_positive<V>(accept_word) <= exp_bounded(fma(reference, reference, -u * u))};
}

/// For |x| >= 8: a Gaussian about 1/x, always accepted. An approximation: to first order in 1/x, without the peak at x.
/// The variance is 1.6 % low at x = 8.
template <class V>
THOR_FN V far_wing_gaussian(V x, V r, WordOf<V> angle_word) {
  return fma(sqrt(-log(r)), random_angle<V>(angle_word).cos, divide(V(RealOf<V>(1)), x));
}

/// What S07, L09, S15 and D20 have in common; they differ by Scheme::cut and by what they do in the far wing.
template <class Scheme, class V>
struct CutSampler {
  using Real = RealOf<V>;
  using Mask = MaskOf<V>;
  using Draws = ParallelUniforms<V>;
  using Proposal = ParallelProposal<V>;

  /// `gaussian` is e^{-x^2}. One more word is drawn.
  template <class Random>
  THOR_FN Proposal propose(V x, V gaussian, const Draws& draws, Random& random) const {
    const Scheme& scheme = static_cast<const Scheme&>(*this);
    const V ax = abs(x), one(Real(1));
    const WordOf<V> word = random.next();
    Proposal result{V(Real(0)), Mask(true)};
    const Mask far = Mask(Scheme::gaussian_wing) && ax >= V(Real(8));
    // A cut below 0 would not be an envelope.
    if (any(!far)) result = propose_by_cut(scheme.a, ax, max(scheme.cut(ax, gaussian), V(Real(0))), draws, word);
    if constexpr (Scheme::gaussian_wing) {
      if (any(far)) {
        result.u = select(far, far_wing_gaussian(max(ax, one), draws.r, word), result.u);
        result.accepted = result.accepted || far;
      }
    }
    result.u = copysign(one, x) * result.u;
    return result;
  }
};

/// Scheme S07: Semelin, Combes & Baek 2007 (A&A 474, 365, eq. 17): u_0 = 1.85 - ln a/6.73 + ln ln x for x > 3, 0 below.
template <class V>
struct ParallelVelocityS07 : CutSampler<ParallelVelocityS07<V>, V> {
  using Real = RealOf<V>;
  static constexpr bool gaussian_wing = false;
  V a, base;  ///< 1.85 - ln a/6.73

  static THOR_FN ParallelVelocityS07 make(V a) { return with(a, log(a)); }
  static THOR_FN ParallelVelocityS07 from(const ParallelVelocity<V>& run) { return with(run.a, ln_a_of(run)); }
  static THOR_FN ParallelVelocityS07 with(V a, V ln_a) { return {{}, a, fma(V(Real(-1 / 6.73)), ln_a, V(Real(1.85)))}; }
  THOR_FN V cut(V x, V) const {
    const V three(Real(3));
    return select(x > three, base + log(log(max(x, three))), V(Real(0)));
  }
};

/// Scheme L09: Laursen, Razoumov & Sommer-Larsen 2009 (ApJ 696, 853):
///   u_0 = 0 for x < 0.2, x - 0.01 a^{1/6} e^{1.2 x} up to x_cw = 1.59 - 0.60 log a - 0.03 log^2 a, 4.5 beyond
/// Between x_cw and 4.5 the cut is above x, and hardly anything is accepted.
template <class V>
struct ParallelVelocityL09 : CutSampler<ParallelVelocityL09<V>, V> {
  using Real = RealOf<V>;
  static constexpr bool gaussian_wing = false;
  V a, x_cw, step;  ///< 0.01 a^{1/6}

  static THOR_FN ParallelVelocityL09 make(V a) { return with(a, log(a)); }
  static THOR_FN ParallelVelocityL09 from(const ParallelVelocity<V>& run) { return with(run.a, ln_a_of(run)); }
  static THOR_FN ParallelVelocityL09 with(V a, V ln_a) {
    const V log_a = V(Real(0.4342944819032518)) * ln_a;
    return {{}, a, polynomial(log_a, 1.59, -0.60, -0.03), V(Real(0.01)) * exp_bounded(V(Real(1. / 6)) * ln_a)};
  }
  THOR_FN V cut(V x, V) const {
    const V in_core = fma(-step, exp_bounded(V(Real(1.2)) * min(x, x_cw)), x);
    return select(x < V(Real(0.2)), V(Real(0)), select(x < x_cw, in_core, V(Real(4.5))));
  }
};

/// Scheme S15: Smith et al. 2015 (MNRAS 449, 4336, eqs. 31 and 32):
///   u_0 = 0 for x < 1, x - 1/(x + e^{1-x^2}/a) up to x_cw, x_cw - 1/x_cw + 0.15 (x - x_cw) beyond, a Gaussian from 8
///   on
template <class V>
struct ParallelVelocityS15 : CutSampler<ParallelVelocityS15<V>, V> {
  using Real = RealOf<V>;
  static constexpr bool gaussian_wing = true;
  V a, e_over_a, x_cw;
  V wing;  ///< 0.85 x_cw - 1/x_cw

  static THOR_FN ParallelVelocityS15 make(V a) { return with(a, divide(V(Real(1)), a), log(a)); }
  static THOR_FN ParallelVelocityS15 from(const ParallelVelocity<V>& run) {
    return with(run.a, run.inv_a, ln_a_of(run));
  }
  static THOR_FN ParallelVelocityS15 with(V a, V inv_a, V ln_a) {
    const V x_cw = core_wing_hyperbola(ln_a);
    return {{}, a, V(Real(2.718281828459045)) * inv_a, x_cw, fma(V(Real(0.85)), x_cw, -divide(V(Real(1)), x_cw))};
  }
  THOR_FN V cut(V x, V gaussian) const {
    const V one(Real(1));
    const V in_core = x - divide(one, max(fma(gaussian, e_over_a, x), one));
    return select(x < one, V(Real(0)), select(x < x_cw, in_core, fma(V(Real(0.15)), x, wing)));
  }
};

/// Scheme D20: Michel-Dansac et al. 2020 (A&A 635, A154), RASCAS: u_0 = 0 for x < 0.6, then a polynomial of fifth order
/// in x and second in zeta = log10 a, a Gaussian from 8 on.
template <class V>
struct ParallelVelocityD20 : CutSampler<ParallelVelocityD20<V>, V> {
  using Real = RealOf<V>;
  static constexpr bool gaussian_wing = true;
  V a, c0, c1, c2, c3, c4, c5;

  static THOR_FN ParallelVelocityD20 make(V a) { return with(a, log(a)); }
  static THOR_FN ParallelVelocityD20 from(const ParallelVelocity<V>& run) { return with(run.a, ln_a_of(run)); }
  static THOR_FN ParallelVelocityD20 with(V a, V ln_a) {
    const V zeta = V(Real(0.4342944819032518)) * ln_a;
    return {{},
            a,
            polynomial(zeta, 2.648963, 2.014446, 0.351479),
            polynomial(zeta, -4.058673, -3.675859, -0.640003),
            polynomial(zeta, 3.017395, 2.117133, 0.370294),
            polynomial(zeta, -0.869789, -0.565886, -0.096312),
            polynomial(zeta, 0.110987, 0.070103, 0.011557),
            polynomial(zeta, -0.005200, -0.003240, -0.000519)};
  }
  THOR_FN V cut(V x, V) const {
    const V p = fma(fma(fma(fma(fma(c5, x, c4), x, c3), x, c2), x, c1), x, c0);
    return select(x < V(Real(0.6)), V(Real(0)), p);
  }
};

// ---- ratio of uniforms ----------------------------------------------------------------------------------------------

/// Scheme SK20: Seon & Kim 2020 (ApJS 250, 9), for |x| > 1 by the ratio of uniforms (Kinderman & Monahan 1977); within,
/// a cut at u_0 = 0 as S15 has it there.
///
/// e^{-u^2} = Int_0^{e^{-u^2/2}} 2 beta dbeta. So u is drawn from the Lorentzian between -p and p, p^2 = -2 ln beta,
/// with
///   h(beta) = beta Delta/(pi a),  Delta = arctan((p-x)/a) + arctan((p+x)/a) = arctan2(2 a p, a^2 + x^2 - p^2)
/// for beta, by rejection in up to three parts. With beta_0 = e^{-x^2/2}, h_0 = h(beta_0) = beta_0/(2a):
///   low     beta < beta_0, where p passes the peak: h <= beta/a, so beta = beta_0 sqrt(r)
///   middle  up to beta_1 = beta_0 + sqrt((2/pi) a x beta_0 (1 - beta_0)): h <= h_0
///   top     up to 1: h <= (2/pi) beta p/(x^2 - p^2), which is at most h_1, its value at beta_1, for x < 1 + sqrt(2);
///   from
///           there on it has another maximum, below h_2 = 0.3861/(x^2 - 1.373)
/// Where h_0 < h_2, the top begins at beta_0, and at 0 where 2 h_0 < h_2.
template <class V>
struct ParallelVelocitySK20 {
  using Real = RealOf<V>;
  using Mask = MaskOf<V>;
  using Draws = ParallelUniforms<V>;
  using Proposal = ParallelProposal<V>;
  V a, inv_a;

  static THOR_FN ParallelVelocitySK20 make(V a) { return {a, divide(V(Real(1)), a)}; }
  static THOR_FN ParallelVelocitySK20 from(const ParallelVelocity<V>& run) { return {run.a, run.inv_a}; }

  /// `gaussian` is e^{-x^2}. Two more words are drawn.
  template <class Random>
  THOR_FN Proposal propose(V x, V gaussian, const Draws& draws, Random& random) const {
    const V ax = abs(x), one(Real(1));
    const WordOf<V> accept_word = random.next(), angle_word = random.next();
    const Mask core = ax <= one;
    Proposal result{V(Real(0)), Mask(false)};
    if (any(core)) result = propose_by_cut(a, ax, V(Real(0)), draws, accept_word);
    if (any(!core)) {
      const Proposal wing = ratio_of_uniforms(max(ax, one), gaussian, draws, accept_word, angle_word);
      result = {select(core, result.u, wing.u), (core && result.accepted) || (!core && wing.accepted)};
    }
    result.u = copysign(one, x) * result.u;
    return result;
  }

  THOR_FN Proposal ratio_of_uniforms(V x, V gaussian, const Draws& draws, WordOf<V> accept_word,
                                     WordOf<V> angle_word) const {
    const V zero(Real(0)), half(Real(0.5)), one(Real(1)), two(Real(2));
    const V pi(Real(3.141592653589793)), inverse_pi(Real(0.3183098861837907)), half_pi(Real(1.5707963267948966));
    const V x2 = x * x;
    const V beta_0 = sqrt(gaussian), h_0 = half * beta_0 * inv_a;
    const V share = sqrt(divide(two * inverse_pi * a * x * (one - beta_0), beta_0));  // beta_1/beta_0 - 1
    const V beta_1 = fma(beta_0, share, beta_0), gap = two * log(one + share);        // x^2 - p^2 at beta_1
    const V h_1 = divide(two * inverse_pi * beta_1 * sqrt(max(x2 - gap, zero)), gap);
    const Mask two_maxima = x >= V(Real(2.414213562373095));
    const V h_2 = select(two_maxima, divide(V(Real(0.3861)), max(x2 - V(Real(1.373)), one)), zero);
    const Mask no_middle = h_0 < h_2, no_low = two * h_0 < h_2;

    const V low_mass = select(no_low, zero, beta_0 * h_0), middle_mass = select(no_middle, zero, beta_0 * share * h_0);
    const V top_from = select(no_low, zero, select(no_middle, beta_0, beta_1));
    const V top_height = select(no_middle, h_2, max(h_1, h_2));
    const V before_top = low_mass + middle_mass;
    const V choice = draws.choice * fma(one - top_from, top_height, before_top);
    const Mask low = choice < low_mass, near = choice < before_top;

    // ln beta from that of beta_0 in the first two parts, so that x^2 - p^2 = 2 ln(beta/beta_0) keeps its digits.
    const V beta = fma(one - top_from, draws.r, top_from), growth = fma(share, draws.r, one);
    const V twice_log = select(low, one, two) * log(select(low, draws.r, select(near, growth, beta)));
    const V difference = select(near, twice_log, x2 + twice_log);  // x^2 - p^2
    const V p = sqrt(max(select(near, x2 - twice_log, -twice_log), zero));

    const V n = two * a * p, d = fma(a, a, difference);
    const Mask small = d > n;
    const V t = atan(divide(select(small, n, d), select(small, d, max(n, V(Real(1e-30))))));
    const V delta = select(small, t, half_pi - t);
    const V envelope = select(low, one, select(near, two * growth, divide(beta * inv_a, top_height)));
    const Mask accepted = uniform_positive<V>(accept_word) <= envelope * delta * inverse_pi;

    // u = x - a cot(psi), psi from that of -p on.
    const V psi = fma(delta, uniform_positive<V>(angle_word), atan(divide(a, x + p)));
    const Mask obtuse = psi > half_pi;
    const V turn = max(V(Real(0.6366197723675814)) * select(obtuse, pi - psi, psi), V(Real(1e-20)));
    const V y = a * divide(cos_quarter_turn(turn), sin_quarter_turn(turn));
    const V u = x - select(obtuse, -y, y);
    return {min(max(u, -p), p), accepted};
  }
};

}  // namespace THOR_ISA
}  // namespace thor
