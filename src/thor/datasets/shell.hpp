#pragma once
#include "thor/datasets/profile.hpp"
#include "thor/datasets/sphere.hpp"

namespace thor {

/// A spherical shell between `inner` and 1: density ~ r^alpha, radial velocity ~ r^beta, dust that follows the gas.
/// Inside `inner` there is nothing.
template <class R>
struct Shell {
  using Real = R;
  Real inner;
  Profile<Real> profile;
};

inline namespace THOR_ISA {

template <class V>
struct ShellView : Meshless<V> {
  static constexpr bool uniform = false;
  static constexpr bool dusty = true;
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const Shell<Real>& data;

  THOR_FN bool varies() const { return data.profile.graded || data.profile.moving; }

  THOR_FN FaceSegment<V> segment(Int cell, Vec3<V> p, Vec3<V> d) const {
    const SphereSegment<V> outer{dot(p, d), SphereView<V>::one_minus_r2(p)};
    FaceSegment<V> s{outer.length(), Int(outside)};
    if (data.inner > Real(0)) {
      const V b = outer.b;
      const V zero(Real(0));
      const V r2_minus = dot(p, p) - V(data.inner * data.inner);
      // From the gas: the nearer root, where the ray goes inward and meets the cavity.
      const V gap = max(r2_minus, zero);
      const V square_root = fma(b, b, -gap);
      const auto meets = b < zero && square_root > zero;
      const V inward = divide(gap, max(abs(b) + sqrt(max(square_root, zero)), V(Real(1e-30))));
      // From the cavity: the far root.
      const SphereSegment<V> across{b, max(-r2_minus, zero)};
      const auto in_cavity = equal<V>(cell, cavity);
      s.distance = select(in_cavity, across.length(), select(meets, inward, s.distance));
      s.behind = select(in_cavity, Int(gas), select(meets, Int(cavity), s.behind));
    }
    return s;
  }

  THOR_FN V opacity(Int cell, Vec3<V> p) const {
    V k(data.profile.opacity);
    if (data.profile.graded) k = graded_opacity(data.profile, sqrt(dot(p, p)));
    if (data.inner > Real(0)) k = select(equal<V>(cell, cavity), V(Real(0)), k);
    return k;
  }
  THOR_FN V velocity_along(Int, Vec3<V> p, Vec3<V> d) const {
    V v(Real(0));
    if (data.profile.moving) v = speed_over_radius(data.profile, sqrt(dot(p, p))) * dot(p, d);
    return v;
  }
  /// dv/ds along the ray: (v/r)(1 + (beta - 1) mu^2).
  THOR_FN V gradient(V v_over_r, V r, V b) const {
    const V mu = divide(b, max(r, V(profile_floor<Real>)));
    return v_over_r * fma(mu * mu, V(data.profile.velocity_exponent - Real(1)), V(Real(1)));
  }
  THOR_FN V max_step(Int cell, Vec3<V> p, Vec3<V> d, V x) const {
    const V r = sqrt(dot(p, p));
    const V w = speed_over_radius(data.profile, r);
    const V limit = limited_step(data.profile, r, gradient(w, r, dot(p, d)), w * r, x);
    return select(equal<V>(cell, cavity), V(no_limit<Real>), limit);
  }
  THOR_FN V core_scale(IntOf<V>, Vec3<V> p, Vec3<V> d) const {
    const V r = sqrt(dot(p, p));
    V scale = divide(SphereView<V>::one_minus_r2(p), V(Real(1)) + r);
    if (data.inner > Real(0)) scale = min(scale, abs(r - V(data.inner)));
    if (varies()) {
      const V w = speed_over_radius(data.profile, r);
      scale = min(scale, gradient_scale(data.profile, r, gradient(w, r, dot(p, d))));
    }
    return scale;
  }

  THOR_FN int locate(Vec3<V> p) const {
    const V r2 = dot(p, p);
    return r2 > V(1) ? outside : r2 < data.inner * data.inner ? cavity : gas;
  }
  THOR_FN V distance_from_outside(Vec3<V> p, Vec3<V> d) const { return SphereView<V>::distance_from_outside(p, d); }
  THOR_FN Vec3<V> sample_position(V r, Vec3<V> n) const { return SphereView<V>::sample_shell(data.inner, r, n); }
};

template <class V>
THOR_FN ShellView<V> view(const Shell<RealOf<V>>& data) {
  return {{}, data};
}
static_assert(DatasetFor<ShellView<float>, float> && PlaceableIn<ShellView<float>, float>);

}  // namespace THOR_ISA
}  // namespace thor
