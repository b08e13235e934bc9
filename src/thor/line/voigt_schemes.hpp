#pragma once
#include "thor/line/voigt.hpp"

/// Other schemes for the Voigt profile, from the paper's appendix A.3. With z = x + ia, H(a, x) is the real part of
/// w(z) = e^{-z^2} erfc(-iz); in t = -iz = a - ix the rational approximations to w have real coefficients.
/// Errors are the largest relative to libcerf for |x| <= 40 and 1e-8 <= a <= 1 (tests/unit/line).
namespace thor {
inline namespace THOR_ISA {

template <class V>
struct Complex {
  V re, im;
};
template <class V>
THOR_FN Complex<V> square(Complex<V> z) {
  return {(z.re - z.im) * (z.re + z.im), V(RealOf<V>(2)) * z.re * z.im};
}
/// a z + b
template <class V>
THOR_FN Complex<V> fma(Complex<V> a, Complex<V> z, Complex<V> b) {
  return {fma(a.re, z.re, fma(-a.im, z.im, b.re)), fma(a.re, z.im, fma(a.im, z.re, b.im))};
}
template <class V>
THOR_FN Complex<V> divide(Complex<V> a, Complex<V> b) {
  const V inverse = divide(V(RealOf<V>(1)), fma(b.re, b.re, b.im * b.im));
  return {fma(a.re, b.re, a.im * b.im) * inverse, fma(a.im, b.re, -a.re * b.im) * inverse};
}

/// Polynomial with real coefficients, constant term first, by Horner's rule.
template <class V, class... C>
THOR_FN Complex<V> horner(Complex<V> z, C... coefficients) {
  using Real = RealOf<V>;
  const Real c[] = {static_cast<Real>(coefficients)...};
  constexpr int n = sizeof...(C);
  Complex<V> p{V(c[n - 1]), V(Real(0))};
  THOR_UNROLL
  for (int i = n - 2; i >= 0; --i) p = fma(p, z, Complex<V>{V(c[i]), V(Real(0))});
  return p;
}

/// The same by the rule of Estrin (1960), p = (c_0 + c_1 z) + z^2 (c_2 + c_3 z) + z^4 (...): half the multiplications
/// are independent, whereas Horner's form one chain. powers[k] = z^(2^k).
template <int n, class V>
THOR_FN Complex<V> estrin_terms(const Complex<V>* powers, const RealOf<V>* c) {
  if constexpr (n == 1) {
    return {V(c[0]), V(RealOf<V>(0))};
  } else if constexpr (n == 2) {
    return {fma(V(c[1]), powers[0].re, V(c[0])), V(c[1]) * powers[0].im};
  } else {
    constexpr int k = n > 8 ? 3 : n > 4 ? 2 : 1;
    return fma(estrin_terms<n - (1 << k)>(powers, c + (1 << k)), powers[k], estrin_terms<(1 << k)>(powers, c));
  }
}
template <class V, class... C>
THOR_FN Complex<V> estrin(const Complex<V>* powers, C... coefficients) {
  const RealOf<V> c[] = {static_cast<RealOf<V>>(coefficients)...};
  return estrin_terms<sizeof...(C)>(powers, c);
}

/// Real part of t/sqrt(pi)/(1/2 + t^2), t = a - ix: the first asymptotic approximation, region I of Humlicek (1982).
template <class V>
THOR_FN V voigt_asymptotic(V a, V x) {
  using Real = RealOf<V>;
  const V x2 = x * x, a2 = a * a, r2 = x2 + a2;
  return divide(V(Real(0.5641895835477563)) * a * (V(Real(0.5)) + r2), fma(r2, r2, a2 - x2 + V(Real(0.25))));
}

/// Scheme H82: Humlicek 1982 (JQSRT 27, 437), w4, in four regions of s = |x| + a:
///   I    s >= 15                           t/sqrt(pi)/(1/2 + t^2)
///   II   s >= 5.5                          t (1.410474 + 0.5641896 t^2)/(3/4 + t^2 (3 + t^2))
///   III  s < 5.5, a >= 0.195 |x| - 0.176   P_4(t)/Q_5(t)
///   IV   s < 5.5, a below                  e^{t^2} - t P_6(-t^2)/Q_7(-t^2)
/// Error < 9.6e-5 (at a = 0.6, x = 4) for a > 1e-7. Region II has no e^{-x^2}: at x = 5.5 that is 1e-4 of H for a =
/// 4e-8 and 4e-4 for a = 1e-8.
struct VoigtH82 {
  template <class V>
  static THOR_FN VoigtProfile<V> eval(V a, V x) {
    using Real = RealOf<V>;
    const V ax = abs(x), s = ax + a;
    const V gaussian = exp_bounded(-x * x);
    V H = voigt_asymptotic(a, ax);
    const auto second = s < V(Real(15));
    if (any(second)) {
      const Complex<V> t{a, -ax}, u = square(t);
      const Complex<V> n = horner(u, 1.410474, 0.5641896), d = horner(u, 0.75, 3., 1.);
      const Complex<V> q = divide(n, d);
      H = select(second, fma(a, q.re, ax * q.im), H);
      const auto inner = s < V(Real(5.5));
      if (any(inner)) {
        const auto third = a >= fma(V(Real(0.195)), ax, V(Real(-0.176)));
        const V H_3 = divide(horner(t, 16.4955, 20.20933, 11.96482, 3.778987, 0.5642236),
                             horner(t, 16.4955, 38.82363, 39.27121, 21.69274, 6.699398, 1.))
                          .re;
        const Complex<V> m{-u.re, -u.im};
        const Complex<V> r = divide(horner(m, 36183.31, 3321.9905, 1540.787, 219.0313, 35.76683, 1.320522, 0.56419),
                                    horner(m, 32066.6, 24322.84, 9022.228, 2186.181, 364.2191, 61.57037, 1.841439, 1.));
        const V cosine = sincos_2pi(V(Real(0.3183098861837907)) * a * ax).cos;  // cosine of 2 a x
        const V H_4 = fma(exp(u.re), cosine, -fma(a, r.re, ax * r.im));
        H = select(inner, select(third, H_3, H_4), H);
      }
    }
    return {gaussian, H};
  }
};

/// Scheme T06: Tasitsiomi 2006 (ApJ 645, 792), with z = (x^2 - 0.855)/(x^2 + 3.42):
///   H = e^{-x^2} + sqrt(pi) q,  q = z (1 + 21/x^2) a/(pi (x^2 + 1)) (0.1117 + z (4.421 + z (-9.207 + 5.674 z)))
/// where z > 0, else q = 0: the first-order term in a is missing in the core. Error 1.2 % (at x = 4.7) up to a =
/// 1e-3, 2 % at a = 1e-2; 1.1 a at x = 0.
struct VoigtT06 {
  template <class V>
  static THOR_FN VoigtProfile<V> eval(V a, V x) {
    using Real = RealOf<V>;
    const V x2 = x * x;
    const V gaussian = exp_bounded(-x2);
    const V z = divide(x2 - V(Real(0.855)), x2 + V(Real(3.42)));
    const V n = V(Real(0.5641895835477563)) * a * z * polynomial(z, 0.1117, 4.421, -9.207, 5.674);
    const V wing = max(x2, V(Real(0.855)));
    const V q = divide(n * (wing + V(Real(21))), wing * (wing + V(Real(1))));
    return {gaussian, gaussian + select(z > V(Real(0)), q, V(Real(0)))};
  }
};

/// Scheme S18: Schreier 2018 (MNRAS 479, 3068), for |x| + a < 15 Humlicek's (1979, JQSRT 21, 309) rational
/// approximation with 16 terms about s = t + delta, delta = 1.31183, as one fraction P_15(s)/Q_8(s^2); region I of
/// Humlicek (1982) beyond. Error < 7.8e-5 (at a = 1e-8, x = 4.4), 5e-5 at x = 15 for every a.
///
/// The error is relative to |w|, not to H: in single precision nothing would be left of H in the wing, where it is
/// smaller by a factor of a. Where a is small, single precision therefore starts from H(0, x) = e^{-x^2}, as Humlicek
/// (1979) does near the real axis, and follows the slope dH/da = 2 Re(-iz w) - 2/sqrt(pi) = 2 (x Im w + a Re w) -
/// 2/sqrt(pi) at a/2. Error < 3e-4.
struct VoigtS18 {
  template <class V>
  static THOR_FN Complex<V> interior(V a, V x) {
    using Real = RealOf<V>;
    Complex<V> s[5] = {{a + V(Real(1.31183)), -x}};
    for (int k = 1; k < 5; ++k) s[k] = square(s[k - 1]);
    const Complex<V> p = estrin(s, 41445.0374210222, 136631.072925829, 191726.143960199, 268628.568621291,
                                173247.907201704, 179862.56759178, 63310.0020563537, 56893.7798630723, 11256.4939105413,
                                9362.62673144278, 1018.67334277366, 810.629101627698, 44.5707404545965,
                                34.5401929182016, 0.740120821385939, 0.564189583547714);
    const Complex<V> q =
        estrin(s + 1, 7918.06640624997, 126689.0625, 295607.8125, 236486.25, 84459.375, 15015., 1365., 60., 1.);
    const V scale(Real(0x1p-30));  // |q|^2 would overflow single precision
    return divide(Complex<V>{p.re * scale, p.im * scale}, Complex<V>{q.re * scale, q.im * scale});
  }
  template <class V>
  static THOR_FN VoigtProfile<V> eval(V a, V x) {
    using Real = RealOf<V>;
    const V ax = abs(x);
    const V gaussian = exp_bounded(-x * x);
    V H = voigt_asymptotic(a, ax);
    const auto inner = ax + a < V(Real(15));
    if (any(inner)) {
      if constexpr (sizeof(Real) == 8) {
        H = select(inner, interior(a, ax).re, H);
      } else {
        const auto small = a < V(Real(0.06));
        const Complex<V> w = interior(select(small, V(Real(0.5)) * a, a), ax);
        const V slope = fma(V(Real(2)) * ax, w.im, fma(a, w.re, V(Real(-1.1283791670955126))));
        H = select(inner, select(small, fma(a, slope, gaussian), w.re), H);
      }
    }
    return {gaussian, H};
  }
};

}  // namespace THOR_ISA
}  // namespace thor
