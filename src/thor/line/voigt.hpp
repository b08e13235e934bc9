#pragma once
#include "thor/math/functions.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The Voigt profile H(a, x) = (a/pi) Int e^{-u^2}/((x-u)^2 + a^2) du and the Gaussian e^{-x^2} it needs anyway.
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

/// The scheme that a run uses. Others take this slot.
using Voigt = VoigtS15;

}  // namespace THOR_ISA
}  // namespace thor
