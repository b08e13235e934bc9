#pragma once
#include "thor/math/functions.hpp"

/// The core-wing boundary x_cw: where the Gaussian core e^{-x^2} meets the Lorentzian wing a/(sqrt(pi) x^2).
/// Schemes of the paper's appendix A.2; Byrohl & Nelson 2025 is a fourth-order polynomial in ln a, within 0.6 % of the
/// exact root (Lambert W) for Lya from 1 K to 1e7 K.
namespace thor {
inline namespace THOR_ISA {

/// The exact root. With w = x^2, w e^{-w} = a/sqrt(pi) =: e^{-L}, so w = -W_{-1}(-e^{-L}) solves w - ln w = L. From
/// 1 + sqrt(2u) + 2u/3, u = L - 1, which lies below it (Chatzigeorgiou 2013, IEEE Commun. Lett. 17, 1505), three Halley
/// steps reach full precision. For a > 0.65 the two curves never meet: x = 1 is returned, where they are closest.
template <class V>
THOR_FN V core_wing_exact(V a) {
  using Real = RealOf<V>;
  const V one(Real(1)), half(Real(0.5));
  const V u = max(V(Real(-0.4276350570752999)) - log(a), V(Real(1e-6)));  // ln sqrt(pi) - 1 - ln a
  const V L = one + u;
  V w = fma(V(Real(2. / 3)), u, one + sqrt(u + u));
  THOR_UNROLL
  for (int step = 0; step < 3; ++step) {
    // f = w - ln w - L, f' = 1 - 1/w, f'' = 1/w^2: w -= f f'/(f'^2 - f f''/2), here times w^2 above and below.
    const V f = w - log(w) - L, d = w - one;
    w = w - divide(f * w * d, fma(d, d, -half * f));
  }
  return sqrt(w);
}

/// Scheme S15: Smith et al. 2015 (MNRAS 449, 4336, eq. 21), a hyperbola in ln a; its values imply the natural
/// logarithm.
template <class V>
THOR_FN V core_wing_hyperbola(V ln_a) {
  using Real = RealOf<V>;
  return V(Real(6.9184721)) + divide(V(Real(81.766279)), ln_a - V(Real(14.651253)));
}
template <class V>
THOR_FN V core_wing_s15(V a) {
  return core_wing_hyperbola(log(a));
}

template <class V>
THOR_FN V core_wing_polynomial(V ln_a) {
  return polynomial(ln_a, 1.03489162, -6.17680644e-1, -8.73073343e-2, -7.91384757e-3, -2.76037084e-4);
}

/// Scheme B25.
template <class V>
THOR_FN V core_wing_b25(V a) {
  return core_wing_polynomial(log(a));
}

/// Scheme B25fast: the logarithm from the bits and a cubic, after P. Mineiro's fastapprox, which the paper follows.
template <class V>
THOR_FN V core_wing_b25_fast(V a) {
  return core_wing_polynomial(V(RealOf<V>(0.6931471805599453)) * fast_log2(a));
}

}  // namespace THOR_ISA
}  // namespace thor
