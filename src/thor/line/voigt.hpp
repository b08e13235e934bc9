#pragma once
#include "thor/math/functions.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The Voigt profile H(a, x) = (a/pi) Int e^{-u^2}/((x-u)^2 + a^2) du and the Gaussian e^{-x^2}, which it needs anyway.
template <class V>
struct VoigtProfile {
  V gaussian, H;
};

/// Scheme S15: Smith et al. 2015 (MNRAS 449, 4336, appendix A), to first order in a: relative error < 1e-4 for
/// 6e-6 < a < 3e-3, < 8e-4 at a = 1e-2 and at a = 1e-6 (just above x = 5). Their three continued fractions in z = x^2,
///   z < 3:   e^{-z} (1 - a (A0 + A1/(z - A2 + A3/(z - A4 + A5/(z - A6)))))
///   z < 25:  e^{-z} + a (B0 + B1/(z - B2 + B3/(z + B4 + B5/(z - B6 + B7/(z - B8)))))
///   else     (a/sqrt(pi))/(z - 3/2 - 3/2/(z - 7/2 - 5/(z - 11/2)))
/// are written here as ratios of polynomials, so that one division serves all three.
struct VoigtS15 {
  template <class V>
  static THOR_FN VoigtProfile<V> eval(V a, V x) {
    using Real = RealOf<V>;
    const V z = x * x;
    const auto core = z < V(Real(3));
    const auto far = z >= V(Real(25));
    const V gaussian = exp_bounded(-z);
    const V core_n =
        polynomial(z, -9.643901140090860e2, 1.2689139432516977e3, -1.7702468035377294e2, 1.575328153963877e1);
    const V core_d = polynomial(z, -8.546684856753071e2, 2.698772169167804e2, -2.9451568894952253e1, 1.);
    const V mid_n = polynomial(z, 3.834498315714533e1, 2.0137017104441234e1, -4.105843315343967, 5.369038030152057e-1,
                               3.300469163682737e-4);
    const V mid_d =
        polynomial(z, 3.2592256702587275e2, -1.6841537930701074e2, 7.064864232474305e1, -1.0318937321608114e1, 1.);
    // z^3 overflows single precision only beyond |x| = 8e5.
    const V far_n = V(Real(0.5641895835477563)) * polynomial(z, 14.25, -9., 1.);
    const V far_d = polynomial(z, -13.125, 26.25, -10.5, 1.);
    const V n = select(core, -core_n * gaussian, select(far, far_n, mid_n));
    const V d = select(core, core_d, select(far, far_d, mid_d));
    const V base = select(far, V(Real(0)), gaussian);
    return {gaussian, fma(a, divide(n, d), base)};
  }
};

/// Scheme of thor: a Taylor series in a,
///   H = e^{-z} (1 + a^2 (1 - 2 z) + a^4 (1/2 - 2 z + 2/3 z^2)) + a H_1 + a^3 H_3,   z = x^2,
///   H_1 = (2/sqrt(pi)) (2 x F(x) - 1),  H_3 = (2/sqrt(pi))/3 + (1 - 2/3 z) H_1
/// (Harris 1948, ApJ 108, 112; F is Dawson's integral), to second or fourth order. H_1 is one expression for all z,
/// (P(z) + g e^{-z})/Q(z), from voigt_coefficients.py: no regions, one division. At fourth order, beyond z = 36, the
/// terms in a^3 are those of H_1(z + a^2), the wings of a Lorentzian. Beyond |x| = 1e5 H is constant. Relative error
/// for |x| < 1e5:
///   order 2   2.1e-5 up to a = 3e-3, 3.1e-5 at 0.01, 8.4e-5 at 0.02
///   order 4   2.1e-5 up to a = 0.03, 2.2e-5 at 0.1, 2.1e-4 at 0.2
template <int order>
struct VoigtTaylor {
  static_assert(order == 2 || order == 4);
  static constexpr double largest_a = order == 2 ? 0.02 : 0.1;

  template <class V>
  static THOR_FN VoigtProfile<V> eval(V a, V x) {
    using Real = RealOf<V>;
    const V one(Real(1)), z = x * x, a2 = a * a;
    const V gaussian = exp_bounded(-z);
    const V second = fma(z, V(Real(-2)), one);
    if constexpr (order == 2) return {gaussian, fma(a, slope(z, gaussian), gaussian * fma(a2, second, one))};
    const auto far = z >= V(Real(36));
    const V first = slope(select(far, z + a2, z), gaussian);
    const V third = select(far, V(Real(0)), fma(fma(z, V(Real(-2. / 3)), one), first, V(Real(0.3761263890318375))));
    const V even = fma(a2, fma(a2, polynomial(z, 0.5, -2., 2. / 3), second), one);
    return {gaussian, fma(a, fma(a2, third, first), gaussian * even)};
  }

 private:
  /// Range of H_1; z^6 would overflow beyond it.
  template <class V>
  static THOR_FN V slope(V z, V gaussian) {
    using Real = RealOf<V>;
    const V t = min(z, V(Real(1e10)));
    const V n = polynomial(t, 1.0507288317489758e-24, -2.6451505475022875e-26, 1.1670418954562710e-26,
                           2.7946022818880915e-27, -2.3907000781615372e-28, 5.6417884557618171e-29);
    const V d =
        polynomial(t, 1.2302514742410173e-24, 3.1938635643745251e-25, 8.4447951475564634e-26, 5.1637885549447637e-27,
                   5.6168310314142118e-27, -5.7517838890545862e-28, 1.0000000000000000e-28);
    return divide(fma(V(Real(-2.4387929214250855e-24)), gaussian, n), d);
  }
};

/// At most H, in a third of the time: e^-z > (1 - z/16)^16, and a wing of a/sqrt(pi)/(z + 1). For |x| < 1 and > 5 it is
/// 0.7 to 1 of H (0.9 and more for a < 0.05); between, for a = 5e-4, 0.55 at |x| = 2 and 0.12 at 2.8.
template <class V>
THOR_FN V voigt_at_least(V a, V x) {
  using Real = RealOf<V>;
  const V z = x * x, zero(Real(0));
  V gaussian = max(fma(z, V(Real(-1. / 16)), V(Real(1))), zero);
  for (int i = 0; i < 4; ++i) gaussian = gaussian * gaussian;
  const V share = max(fma(a, V(Real(-2)), V(Real(0.9999))), zero);
  return fma(gaussian, share, divide(a * V(Real(0.564)), z + V(Real(1))));
}

/// d ln H/dx, to first order in a: H' = -2 x e^{-z} + a H_1', with x H_1' = H_1 (1 - 2 z) + 2/sqrt(pi) and a H_1 = H -
/// e^{-z}; beyond |x| = 10, where that cancels, -2/x.
template <class V>
THOR_FN V voigt_slope(V a, V x, V gaussian, V H) {
  using Real = RealOf<V>;
  const V z = x * x;
  const V wing = fma(H - gaussian, fma(z, V(Real(-2)), V(Real(1))), V(Real(1.1283791670955126)) * a);
  const V near = divide(x * fma(V(Real(-2)) * z, gaussian, wing), max(z, V(Real(1e-4))) * max(H, V(Real(1e-30))));
  return select(z > V(Real(100)), divide(V(Real(-2)) * x, max(z, V(Real(1)))), near);
}

/// Default scheme of a run, and the one for larger a; the others are in voigt_schemes.hpp.
using Voigt = VoigtTaylor<2>;
using VoigtThor = VoigtTaylor<4>;

}  // namespace THOR_ISA
}  // namespace thor
