#pragma once
#include "thor/math/value.hpp"

/// Branch-free elementary functions on the value-type layer: no libm, the same on every backend.
/// The coefficients are made by coefficients.py beside this file; the error bounds stated here are tested in
/// tests/unit/math/functions_test.cpp over the whole stated range.
namespace thor {
inline namespace THOR_ISA {

/// Horner's rule with explicit fused multiply-add, coefficients from the constant term up.
template <class V, class... C>
THOR_FN V polynomial(V x, C... coefficients) {
  using Real = RealOf<V>;
  const Real c[] = {static_cast<Real>(coefficients)...};
  constexpr int n = sizeof...(C);
  V p(c[n - 1]);
  THOR_UNROLL
  for (int i = n - 2; i >= 0; --i) p = fma(p, x, V(c[i]));
  return p;
}

/// The nearest integer, the even one of two, for |x| < 2^22 (2^51).
template <class V>
THOR_FN V round_to_integer(V x) {
  const V magic(sizeof(RealOf<V>) == 4 ? RealOf<V>(12582912) : RealOf<V>(6755399441055744));  // 1.5 * 2^23, 1.5 * 2^52
  return (x + magic) - magic;
}

/// e^x for x < 88 (709); see exp.
template <class V>
THOR_FN V exp_bounded(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  if constexpr (sizeof(Real) == 4) {
    x = max(V(-87.f), x);
    const V magic(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer, left in the low bits
    const V t = fma(x, V(1.44269504f), magic);
    const V n = t - magic;
    V r = fma(n, V(-0.693359375f), x);
    r = fma(n, V(2.12194440e-4f), r);
    const V p = polynomial(r, 0.5f, 1.6666576e-1f, 4.1666552e-2f, 8.363233e-3f, 1.392625e-3f);
    const V y = fma(p, r * r, r) + V(1.f);
    return y * from_bits(static_cast<Bits>((to_bits(t) + Bits(127u)) << 23));
  } else {
    x = max(V(-708.), x);
    const V magic(6755399441055744.);  // 1.5 * 2^52
    const V t = fma(x, V(1.4426950408889634), magic);
    const V n = t - magic;
    V r = fma(n, V(-6.93145751953125e-1), x);
    r = fma(n, V(-1.42860682030941723212e-6), r);
    const V p = polynomial(r, 0.5, 1.6666666666666669e-1, 4.1666666666623824e-2, 8.333333333330039e-3,
                           1.3888888917367081e-3, 1.9841269863171557e-4, 2.4801521057868204e-5, 2.7557268276905696e-6,
                           2.7620201591031547e-7, 2.5100472505694996e-8);
    const V y = fma(p, r * r, r) + V(1.);
    return y * from_bits(static_cast<Bits>((to_bits(t) + Bits(1023u)) << 52));
  }
}

/// e^x. Relative error < 2e-7 (single), < 4e-16 (double). Arguments are clamped to [-87, 88] and [-708, 709]: what is
/// smaller gives about 1e-38 (1e-308), never a denormal.
template <class V>
THOR_FN V exp(V x) {
  return exp_bounded(min(x, V(RealOf<V>(sizeof(RealOf<V>) == 4 ? 88 : 709))));
}

/// e^x for x < 88 (709), to 7.6e-5: for a test that looks closer where this cannot decide.
template <class V>
THOR_FN V fast_exp(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  const V magic(single ? Real(12582912) : Real(6755399441055744));
  const V scaled = max(x, V(single ? Real(-87) : Real(-708))) * V(Real(1.4426950408889634));
  const V t = scaled + magic;  // 2^scaled = 2^n 2^f with |f| <= 1/2
  const V p = polynomial(scaled - (t - magic), 0.9999280848806505, 0.6932609937784986, 0.24261093799205374,
                         0.05517149379935518);
  return p * from_bits(static_cast<Bits>((to_bits(t) + Bits(single ? 127u : 1023u)) << (single ? 23 : 52)));
}

/// ln x for positive normal x. Error < 2e-7 max(1, |ln x|) (single), < 4e-16 max(1, |ln x|) (double); exactly 0 at 1
/// and relatively accurate around it.
template <class V>
THOR_FN V log(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  if constexpr (sizeof(Real) == 4) {
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) puts the cut there.
    const Bits shifted = to_bits(x) - Bits(0x3f3504f3u);
    const V m = from_bits(static_cast<Bits>((shifted & Bits(0x007fffffu)) + Bits(0x3f3504f3u)));
    // The signed exponent, by way of the magic number: (e + 2^22) in the low bits of 1.5 * 2^23.
    const Bits biased = (shifted >> 23) ^ Bits(0x100u);  // two's complement of nine bits -> offset 256
    const V e = from_bits(static_cast<Bits>(biased + Bits(0x4b000000u))) - V(8388608.f + 256.f);
    const V f = m - V(1.f);
    const V p = polynomial(f, 3.333333e-1f, -2.4999997e-1f, 2.0000716e-1f, -1.6667803e-1f, 1.4249058e-1f,
                           -1.2425687e-1f, 1.168542e-1f, -1.1479734e-1f, 6.971612e-2f);
    const V f2 = f * f;
    V y = fma(e, V(-2.12194440e-4f), p * f2 * f);
    y = fma(f2, V(-0.5f), y);
    return fma(e, V(0.693359375f), f + y);
  } else {
    const Bits shifted = to_bits(x) - Bits(0x3fe6a09e667f3bcdull);
    const V m = from_bits(static_cast<Bits>((shifted & Bits(0x000fffffffffffffull)) + Bits(0x3fe6a09e667f3bcdull)));
    const Bits biased = (shifted >> 52) ^ Bits(0x800ull);  // two's complement of twelve bits -> offset 2048
    const V e = from_bits(static_cast<Bits>(biased + Bits(0x4330000000000000ull))) - V(4503599627370496. + 2048.);
    const V f = m - V(1.);
    const V s = f / (m + V(1.));
    const V z = s * s;
    const V p = polynomial(z, 3.333333333333333e-1, 2.0000000000000442e-1, 1.4285714285399892e-1, 1.1111111196290523e-1,
                           9.090897773760569e-2, 7.693122368810833e-2, 6.634319184633412e-2, 6.544017425463777e-2);
    // log m = 2 s (1 + z p) = f - s (f - 2 z p): the first term is exact.
    const V tail = fma(e, V(1.42860682030941723212e-6), -s * (f - V(2.) * z * p));
    return fma(e, V(6.93145751953125e-1), f + tail);
  }
}

/// log2 x for positive normal x, to 1.1e-3: the exponent from the bits, log2 of the mantissa m in [1, 2) from a cubic
/// (least squares, exact at m = 1 and 2).
template <class V>
THOR_FN V fast_log2(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  constexpr int width = single ? 23 : 52;
  const Bits fraction((typename Value<Real>::Bits(1) << width) - 1u);
  const V m = from_bits(static_cast<Bits>((to_bits(x) & fraction) | to_bits(V(Real(1)))));
  const V power(single ? Real(0x1p23) : Real(0x1p52));
  const V e = from_bits(static_cast<Bits>((to_bits(x) >> width) | to_bits(power))) - power;
  return (e - V(Real(single ? 127 : 1023))) +
         polynomial(m, -2.154501301612941, 3.044524179172145, -1.0464089909355705, 0.15638611337636668);
}

/// x^{1/3} for positive normal x, to 1e-3: enough for a criterion, at a third of the price of exp(log(x)/3).
template <class V>
THOR_FN V fast_cbrt(V x) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  const V magic(single ? Real(12582912) : Real(6755399441055744));
  const V third = fast_log2(x) * V(Real(1. / 3));
  const V t = third + magic;  // 2^third = 2^n 2^f with |f| <= 1/2
  const V p = polynomial(third - (t - magic), 1., 0.69314718, 0.24022651, 0.0559);
  return p * from_bits(static_cast<Bits>((to_bits(t) + Bits(single ? 127u : 1023u)) << (single ? 23 : 52)));
}

/// sin and cos of 2 pi u, |u| < 2^20. Absolute error < 2e-7 (single), < 4e-16 (double).
template <class V>
struct SinCos {
  V sin, cos;
};

template <class V>
THOR_FN SinCos<V> sincos_2pi(V u) {
  using Real = RealOf<V>;
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  const V magic(single ? Real(12582912) : Real(6755399441055744));
  const V t = fma(u, V(Real(4)), magic);
  const Bits quadrant = to_bits(t);
  const V y = fma(t - magic, V(Real(-0.25)), u);
  const V z = y * y;
  V s, c;
  if constexpr (single) {
    s = y * polynomial(z, 6.2831855f, -4.1341663e1f, 8.1592514e1f, -7.540032e1f);
    c = fma(z, polynomial(z, -1.9739208e1f, 6.493937e1f, -8.544881e1f, 5.942329e1f), V(1.f));
  } else {
    s = y * polynomial(z, 6.283185307179586, -4.1341702240399634e1, 8.16052492759474e1, -7.670585970407949e1,
                       4.2058684993423846e1, -1.5093802537781873e1, 3.7808300639823);
    c = fma(z,
            polynomial(z, -1.9739208802178716e1, 6.493939402266824e1, -8.545681720664355e1, 6.024464135262532e1,
                       -2.6426253265343973e1, 7.903206254195357, -1.6990191035198574),
            V(1.));
  }
  constexpr int top = single ? 30 : 62;               // bit 1 of the quadrant moves to the sign
  const Bits odd = Bits(0u) - (quadrant & Bits(1u));  // all ones or all zeros
  const Bits swap = (to_bits(s) ^ to_bits(c)) & odd;
  const Bits sin_sign = (quadrant & Bits(2u)) << top;
  const Bits cos_sign = ((quadrant + Bits(1u)) & Bits(2u)) << top;
  return {from_bits(static_cast<Bits>(to_bits(s) ^ swap ^ sin_sign)),
          from_bits(static_cast<Bits>(to_bits(c) ^ swap ^ cos_sign))};
}

/// cos(pi v/2) for v in [0, 1]. Absolute error < 2e-7 (single), < 4e-16 (double); exactly 0 at 1.
template <class V>
THOR_FN V cos_quarter_turn(V v) {
  using Real = RealOf<V>;
  const V z = v * v;
  V p;
  if constexpr (sizeof(Real) == 4) {
    p = polynomial(z, 1., -2.337005e-1, 1.9968607e-2, -8.935355e-4, 2.3600689e-5);
  } else {
    p = polynomial(z, 1., -2.3370055013616983e-1, 1.9968957764878077e-2, -8.945229984736444e-4, 2.473727635883673e-5,
                   -4.647659915952978e-7, 6.321440904258357e-9, -6.510529156797684e-11, 5.10846968542241e-13);
  }
  return (V(Real(1)) - v) * (V(Real(1)) + v) * p;
}

/// sin(pi v/2) for v in [0, 1]. Relative error < 2e-7 (single), < 4e-16 (double).
template <class V>
THOR_FN V sin_quarter_turn(V v) {
  using Real = RealOf<V>;
  const V z = v * v;
  if constexpr (sizeof(Real) == 4) {
    return v * polynomial(z, 1.5707964, -6.459638e-1, 7.968992e-2, -4.6741436e-3, 1.516717e-4);
  } else {
    return v * polynomial(z, 1.5707963267948966, -6.459640975062462e-1, 7.969262624616565e-2, -4.681754135304255e-3,
                          1.604411847130916e-4, -3.5988430204672576e-6, 5.6921364280986254e-8, -6.684416831856085e-10,
                          5.87297574479995e-12);
  }
}

/// arctan x for every x. Relative error < 3e-7 (single), < 6e-16 (double).
template <class V>
THOR_FN V atan(V x) {
  using Real = RealOf<V>;
  const V ax = abs(x);
  const V one(Real(1));
  const auto large = ax > V(Real(2.414213562373095));    // tan(3 pi/8)
  const auto medium = ax > V(Real(0.4142135623730950));  // tan(pi/8)
  const V numerator = select(large, -one, select(medium, ax - one, ax));
  const V denominator = select(large, ax, select(medium, ax + one, one));
  const V offset = select(large, V(Real(1.5707963267948966)), select(medium, V(Real(0.7853981633974483)), V(Real(0))));
  const V correction =
      select(large, V(Real(6.123233995736766e-17)), select(medium, V(Real(3.061616997868383e-17)), V(Real(0))));
  const V t = numerator / denominator;
  const V z = t * t;
  V p;
  if constexpr (sizeof(Real) == 4) {
    p = polynomial(z, -3.3333287e-1f, 1.9991213e-1f, -1.402368e-1f, 8.51835e-2f);
    return copysign(offset + fma(p * z, t, t), x);
  } else {
    p = polynomial(z, -3.333333333333333e-1, 1.999999999999548e-1, -1.4285714284657894e-1, 1.1111111014561013e-1,
                   -9.090904549884611e-2, 7.692182535116648e-2, -6.664502215671447e-2, 5.8580687568615106e-2,
                   -5.085030492810941e-2, 3.921955253255129e-2, -1.9162068915902573e-2);
    return copysign(offset + (fma(p * z, t, t) + correction), x);
  }
}

}  // namespace THOR_ISA
}  // namespace thor
