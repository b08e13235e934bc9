#pragma once
#include "thor/math/value.hpp"

namespace thor {
inline namespace THOR_ISA {

template <class V>
struct Vec3 {
  V x, y, z;
};

template <class V>
THOR_FN Vec3<V> operator*(V s, Vec3<V> a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class V>
THOR_FN V dot(Vec3<V> a, Vec3<V> b) {
  return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}
/// a + s b
template <class V>
THOR_FN Vec3<V> along(Vec3<V> a, V s, Vec3<V> b) {
  return {fma(s, b.x, a.x), fma(s, b.y, a.y), fma(s, b.z, a.z)};
}
template <class M, class V>
THOR_FN Vec3<V> select(M m, Vec3<V> a, Vec3<V> b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}

/// The direction at polar cosine mu (sine st) and azimuth (cos_phi, sin_phi) about the unit vector d. The frame is that
/// of Duff et al. (2017, JCGT 6), continuous except at d.z = 0. |n|^2 is 1 to rounding, so one Newton step of 1/sqrt
/// renormalises it and unit vectors stay so over millions of scatterings.
template <class V>
THOR_FN Vec3<V> turn(Vec3<V> d, V mu, V st, V cos_phi, V sin_phi) {
  const V one(RealOf<V>(1));
  const V sign = copysign(one, d.z);
  const V a = divide(-one, sign + d.z);
  const V b = d.x * d.y * a;
  const V p = st * cos_phi;
  const V q = st * sin_phi;
  Vec3<V> n;
  n.x = fma(p, fma(sign * d.x * d.x, a, one), fma(q, b, mu * d.x));
  n.y = fma(p, sign * b, fma(q, fma(d.y * d.y, a, sign), mu * d.y));
  n.z = fma(mu, d.z, -fma(p, sign * d.x, q * d.y));
  const V norm = fma(dot(n, n), V(RealOf<V>(-0.5)), V(RealOf<V>(1.5)));
  return norm * n;
}

}  // namespace THOR_ISA
}  // namespace thor
