#pragma once
#include "thor/math/functions.hpp"

/// The core-wing boundary x_cw: where the Gaussian core e^{-x^2} meets the Lorentzian wing a/(sqrt(pi) x^2).
/// Byrohl & Nelson 2025 (appendix A.2), a fourth-order polynomial in ln a; within 0.6 % of the exact root (Lambert W)
/// for Lya from 1 K to 1e7 K.
namespace thor {
inline namespace THOR_ISA {

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
