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

/// ln x to 8e-4: the exponent from the bits, log2 of the mantissa m in [1, 2) from a cubic (least squares, exact at
/// m = 1 and 2). The idea is that of P. Mineiro's fastapprox, which the paper follows.
template <class V>
THOR_FN V fast_log(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  constexpr int width = single ? 23 : 52;
  const Bits bits = to_bits(x);
  const Bits fraction((typename Value<Real>::Bits(1) << width) - 1u);
  const V m = from_bits(static_cast<Bits>((bits & fraction) | to_bits(V(Real(1)))));
  const V magic = V(single ? Real(0x1p23) : Real(0x1p52));
  const V e = from_bits(static_cast<Bits>((bits >> width) | to_bits(magic))) - magic - V(Real(single ? 127 : 1023));
  const V p = polynomial(m, -2.154501301612941, 3.044524179172145, -1.0464089909355705, 0.15638611337636668);
  return V(Real(0.6931471805599453)) * (e + p);
}

/// Scheme B25fast.
template <class V>
THOR_FN V core_wing_b25_fast(V a) {
  return core_wing_polynomial(fast_log(a));
}

}  // namespace THOR_ISA
}  // namespace thor
