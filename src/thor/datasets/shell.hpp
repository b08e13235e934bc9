#pragma once
#include "thor/datasets/profile.hpp"
#include "thor/datasets/sphere.hpp"

namespace thor {

/// A spherical shell between `inner` and 1: density ~ r^alpha, radial velocity ~ r^beta, dust that follows the gas.
/// The cavity inside `inner` is empty.
template <class R>
struct Shell {
  using Real = R;
  Real inner;
  Profile<Real> profile;
  Real thickness = (1 - inner) * (1 + inner);  ///< 1 - inner^2

  static void for_each_field(auto f, auto&... d) { f(d.inner...), f(d.profile...), f(d.thickness...); }
};

/// A sphere as a shell, for problems that have no kernel for spheres.
template <class Real>
Shell<Real> general(const Sphere<Real>& sphere) {
  Shell<Real> shell{};
  shell.profile.opacity = sphere.kappa;
  return shell;
}

inline namespace THOR_ISA {

template <class V>
struct ShellView : Meshless<ShellView<V>, V> {
  static constexpr bool substeps = true;
  static constexpr bool dusty = true;
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Place = Region<V, IntOf<V>>;
  using Here = Place;
  using Segment = FaceSegment<V>;
  const Shell<Real>& data;

  THOR_FN bool varies() const { return data.profile.graded || data.profile.moving; }

  /// 1 - r^2 and r^2 - r_in^2 of a place in the gas. The depth is the smaller one, the latter with a minus sign; in the
  /// cavity it is r_in^2 - r^2.
  THOR_FN V below_outer(const Here& h) const {
    V c = h.depth;
    if (data.inner > Real(0)) c = select(h.depth < V(Real(0)), V(data.thickness) + h.depth, h.depth);
    return c;
  }
  THOR_FN V above_inner(const Here& h) const {
    return select(h.depth < V(Real(0)), -h.depth, V(data.thickness) - h.depth);
  }
  /// At the inner face, on the side of the gas.
  static THOR_FN V at_inner() { return V(Real(-0x1p-60)); }

  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const auto&) const {
    const V zero(Real(0));
    const V change = SphereView<V>::change_of_r2({lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz}, s);
    V depth = lane.place.depth - change;
    const Vec3<V> q = this->move(lane, s);
    if (data.inner > Real(0)) {  // a flight through the cavity ends at a face, where cross() sets the depth
      const V thick(data.thickness), half(Real(0.5) * data.thickness), inner2(data.inner * data.inner);
      depth = select(lane.place.depth < zero, min(depth, at_inner()), max(depth, zero));
      depth =
          select(depth > half, min(depth - thick, at_inner()), select(depth < -half, max(depth + thick, zero), depth));
      // Around a small cavity the position is more accurate, except in the last hundredth above the face.
      const V exact = inner2 - dot(q, q);
      depth = select(depth < zero && exact < V(Real(-1. / 128)) * inner2, exact, depth);
    } else {
      depth = max(depth, zero);
    }
    lane.place.depth = depth;
  }
  template <class Lane>
  THOR_FN Passage<V> cross(Lane& lane, MaskOf<V> face, const FaceSegment<V>& segment) const {
    // Into the gas, or into the cavity.
    lane.place.depth = select(face, select(equal<V>(segment.behind, gas), at_inner(), V(Real(0))), lane.place.depth);
    return Meshless<ShellView<V>, V>::cross(lane, face, segment);
  }

  THOR_FN FaceSegment<V> segment(const Place& here, Vec3<V> p, Vec3<V> d) const {
    const SphereSegment<V> outer{dot(p, d), below_outer(here)};
    FaceSegment<V> s{outer.length(), Int(outside)};
    if (data.inner > Real(0)) {
      const V b = outer.b;
      const V zero(Real(0));
      // From the gas: the nearer root, where the ray goes inward and meets the cavity.
      const V gap = above_inner(here);
      const V square_root = fma(b, b, -gap);
      const auto meets = b < zero && square_root > zero;
      const V inward = divide(gap, max(abs(b) + sqrt(max(square_root, zero)), V(Real(1e-30))));
      // From the cavity: the far root.
      const SphereSegment<V> across{b, max(here.depth, zero)};
      const auto in_cavity = equal<V>(here.cell, cavity);
      s.distance = select(in_cavity, across.length(), select(meets, inward, s.distance));
      s.behind = select(in_cavity, Int(gas), select(meets, Int(cavity), s.behind));
    }
    return s;
  }

  THOR_FN V opacity(const Here& here, Vec3<V> p) const {
    V k(data.profile.opacity);
    if (data.profile.graded) k = graded_opacity(data.profile, sqrt(dot(p, p)));
    if (data.inner > Real(0)) k = select(equal<V>(here.cell, cavity), V(Real(0)), k);
    return k;
  }
  THOR_FN V velocity_along(const Here&, Vec3<V> p, Vec3<V> d) const {
    V v(Real(0));
    if (data.profile.moving) v = speed_over_radius(data.profile, sqrt(dot(p, p))) * dot(p, d);
    return v;
  }
  /// dv/ds along the ray: (v/r)(1 + (beta - 1) mu^2).
  THOR_FN V gradient(V v_over_r, V r, V b) const {
    const V mu = divide(b, max(r, V(profile_floor<Real>)));
    return v_over_r * fma(mu * mu, V(data.profile.velocity_exponent - Real(1)), V(Real(1)));
  }
  THOR_FN V velocity_gradient(Vec3<V> p, Vec3<V> d) const {
    V slope(Real(0));
    if (data.profile.moving) {
      const V r = sqrt(dot(p, p));
      slope = gradient(speed_over_radius(data.profile, r), r, dot(p, d));
    }
    return slope;
  }
  THOR_FN V max_step(const Here& here, Vec3<V> p, Vec3<V> d, V x) const {
    const V r = sqrt(dot(p, p));
    const V w = speed_over_radius(data.profile, r);
    const V limit = limited_step(data.profile, r, gradient(w, r, dot(p, d)), w * r, x);
    return select(equal<V>(here.cell, cavity), V(no_limit<Real>), limit);
  }
  /// The distance to the nearer face.
  THOR_FN V to_face(const Here& here, V r) const {
    V scale = divide(below_outer(here), V(Real(1)) + r);
    if (data.inner > Real(0)) scale = min(scale, divide(above_inner(here), r + V(data.inner)));
    return scale;
  }
  THOR_FN V core_scale(const Place&, const Here& here, Vec3<V> p, Vec3<V> d) const {
    const V r = sqrt(dot(p, p));
    V scale = to_face(here, r);
    if (varies()) {
      const V w = speed_over_radius(data.profile, r);
      scale = min(scale, gradient_scale(data.profile, r, gradient(w, r, dot(p, d))));
    }
    return scale;
  }

  template <class Lane>
  THOR_FN V room(const Lane& lane, const Here& here, const auto& limits) const {
    const Vec3<V> p{lane.px, lane.py, lane.pz};
    const V r = sqrt(dot(p, p));
    return min(to_face(here, r), homogeneous_radius(data.profile, r, limits));
  }
  /// alpha (p.n)/r^2.
  THOR_FN V density_slope(Vec3<V> p, Vec3<V> n) const {
    V slope(Real(0));
    if (data.profile.graded) {
      const V r2 = max(dot(p, p), V(profile_floor<Real> * profile_floor<Real>));
      slope = V(data.profile.density_exponent) * divide(dot(p, n), r2);
    }
    return slope;
  }
  /// (v/r)(1 + (beta - 1) mu^2) with the mean of mu^2.
  THOR_FN V velocity_slope(const Here&, Vec3<V> p) const {
    V slope(Real(0));
    if (data.profile.moving) {
      slope =
          V((Real(2) + data.profile.velocity_exponent) / Real(3)) * speed_over_radius(data.profile, sqrt(dot(p, p)));
    }
    return slope;
  }

  THOR_FN int locate(Vec3<V> p) const {
    const V r2 = dot(p, p);
    return r2 > V(1) ? outside : r2 < data.inner * data.inner ? cavity : gas;
  }
  THOR_FN V depth_at(int cell, Vec3<V> p) const {
    const V outer = max(SphereView<V>::one_minus_r2(p), V(0));
    if (data.inner <= Real(0)) return depth_at_birth(outer);
    const V inner2 = data.inner * data.inner, inner = depth_at_birth(inner2 - dot(p, p), inner2);
    if (cell == cavity) return max(inner, V(0));
    return outer > V(0.5) * data.thickness ? min(inner, at_inner()) : depth_at_birth(outer);
  }
  THOR_FN V distance_from_outside(Vec3<V> p, Vec3<V> d) const { return SphereView<V>::distance_from_outside(p, d); }
  THOR_FN Vec3<V> sample_position(V r, Vec3<V> n) const { return SphereView<V>::sample_shell(data.inner, r, n); }
};

template <class Real>
THOR_FN RayEntry enter_model(const Shell<Real>&, const double (&p)[3], const double (&d)[3], double from) {
  return enter_sphere(p, d, from);
}
template <class Real>
ModelShape shape_of_model(const Shell<Real>&) {
  return {true, {1, 1, 1}};
}

template <class V>
THOR_FN ShellView<V> view(const Shell<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA
}  // namespace thor
