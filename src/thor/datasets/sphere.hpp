#pragma once
#include "thor/datasets/meshless.hpp"
#include "thor/datasets/ray_entry.hpp"
#include "thor/math/functions.hpp"

namespace thor {

/// A homogeneous sphere at rest without dust: the shell's simplest case, with a kernel of its own.
template <class R>
struct Sphere {
  using Real = R;
  Real kappa;  ///< n sigma_0 per radius: tau0

  static void for_each_field(auto f, auto&... d) { f(d.kappa...); }
};

inline namespace THOR_ISA {

template <class V>
struct SphereSegment {
  V b;  ///< p . d
  V c;  ///< 1 - r^2

  /// |p + s d| >= 1, as s (s + 2 b) >= 1 - r^2: needs neither root nor division.
  THOR_FN MaskOf<V> reaches(V s) const { return s * fma(V(RealOf<V>(2)), b, s) >= c; }

  /// The positive root of s^2 + 2 b s = c, without cancellation for either sign of b.
  THOR_FN V length() const {
    const V root = sqrt(fma(b, b, c));
    const V sum = root + abs(b);
    const auto outward = b > V(RealOf<V>(0));
    return select(outward, divide(c, max(sum, V(RealOf<V>(1e-30)))), sum);
  }
  THOR_FN IntOf<V> next() const { return IntOf<V>(outside); }
};

template <class V>
struct SphereView : Meshless<SphereView<V>, V> {
  static constexpr bool substeps = false;
  static constexpr bool dusty = false;
  using Real = RealOf<V>;
  using Place = Region<V, IntOf<V>>;
  using Here = Place;
  using Segment = SphereSegment<V>;
  const Sphere<Real>& data;

  THOR_FN bool varies() const { return false; }
  /// By fma from 1 - x^2 - y^2 - z^2: to 1e-7 in single precision.
  static THOR_FN V one_minus_r2(Vec3<V> p) { return fma(-p.x, p.x, fma(-p.y, p.y, fma(-p.z, p.z, V(Real(1))))); }
  /// The change of r^2 over a way s from p: s (s + 2 p.d).
  static THOR_FN V change_of_r2(Vec3<V> p, Vec3<V> d, V s) { return s * fma(V(Real(2)), dot(p, d), s); }

  /// The depth is 1 - r^2, and a flight changes it by what `reaches` has found to be less than it. Position and depth
  /// each keep their own rounding errors: they differ by about 1e-4 after 1e7 steps, which has no effect.
  THOR_FN SphereSegment<V> segment(const Place& here, Vec3<V> p, Vec3<V> d) const { return {dot(p, d), here.depth}; }
  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const auto&) const {
    lane.place.depth = lane.place.depth - change_of_r2({lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz}, s);
    this->move(lane, s);
  }
  THOR_FN V opacity(const Here&, Vec3<V>) const { return V(data.kappa); }
  THOR_FN V velocity_along(const Here&, Vec3<V>, Vec3<V>) const { return V(Real(0)); }
  THOR_FN V max_step(const Here&, Vec3<V>, Vec3<V>, V) const { return V(no_limit<Real>); }
  /// The distance to the edge, 1 - r = (1 - r^2)/(1 + r).
  THOR_FN V core_scale(const Place&, const Here& here, Vec3<V> p, Vec3<V>) const {
    return divide(here.depth, V(Real(1)) + sqrt(dot(p, p)));
  }

  template <class Lane>
  THOR_FN V room(const Lane& lane, const Here& here, const auto&) const {
    const Vec3<V> p{lane.px, lane.py, lane.pz};
    return core_scale(lane.place, here, p, p);
  }
  THOR_FN V density_slope(Vec3<V>, Vec3<V>) const { return V(Real(0)); }
  THOR_FN V velocity_slope(const Here&, Vec3<V>) const { return V(Real(0)); }
  THOR_FN V velocity_gradient(Vec3<V>, Vec3<V>) const { return V(Real(0)); }

  THOR_FN int locate(Vec3<V> p) const { return dot(p, p) <= V(1) ? gas : outside; }
  THOR_FN V depth_at(int, Vec3<V> p) const { return depth_at_birth(max(one_minus_r2(p), V(0))); }
  static THOR_FN V distance_from_outside(Vec3<V> p, Vec3<V> d) {
    const V b = dot(p, d), c = dot(p, p) - V(1);
    const V root = fma(b, b, -c);
    return b < V(0) && root > V(0) ? c / (sqrt(root) - b) : V(-1);
  }
  THOR_FN Vec3<V> sample_position(V r, Vec3<V> n) const { return sample_shell(V(0), r, n); }
  /// Uniform in volume between `inner` and 1: r^3 is uniform.
  static THOR_FN Vec3<V> sample_shell(V inner, V r, Vec3<V> n) {
    const V cube = inner * inner * inner;
    return exp(log(max(fma(r, V(1) - cube, cube), V(1e-30))) * V(1. / 3)) * n;
  }
};

template <class Real>
THOR_FN RayEntry enter_model(const Sphere<Real>&, const double (&p)[3], const double (&d)[3], double from) {
  return enter_sphere(p, d, from);
}
template <class Real>
ModelShape shape_of_model(const Sphere<Real>&) {
  return {true, {1, 1, 1}};
}

template <class V>
THOR_FN SphereView<V> view(const Sphere<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA
}  // namespace thor
