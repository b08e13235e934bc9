#pragma once
#include "thor/datasets/meshless.hpp"
#include "thor/datasets/profile.hpp"
#include "thor/datasets/ray_entry.hpp"

namespace thor {

/// A homogeneous slab, infinite in x and y, between z = -1 and 1; velocity along z, odd in z: v_z = v |z|^beta sign(z).
template <class R>
struct Slab {
  using Real = R;
  Profile<Real> profile;

  static void for_each_field(auto f, auto&... d) { f(d.profile...); }
};

inline namespace THOR_ISA {

template <class V>
struct SlabView : Meshless<SlabView<V>, V> {
  static constexpr bool substeps = true;
  static constexpr bool dusty = true;
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  using Place = Region<V, IntOf<V>>;
  using Here = Place;
  using Segment = FaceSegment<V>;
  const Slab<Real>& data;

  THOR_FN bool varies() const { return data.profile.moving; }

  /// The depth is 1 - |z|.
  THOR_FN FaceSegment<V> segment(const Place& here, Vec3<V> p, Vec3<V> d) const {
    const V zero(Real(0));
    const V to_face = select((d.z > zero) == (p.z > zero), here.depth, V(Real(2)) - here.depth);
    return {divide(to_face, max(abs(d.z), V(Real(1e-20)))), Int(outside)};
  }
  template <class Lane>
  THOR_FN void advance(Lane& lane, V s, const auto&) const {
    const V zero(Real(0));
    const auto upper = lane.pz > zero;
    const V near_face = fma(select(upper, -s, s), lane.dz, lane.place.depth);
    const V z = this->move(lane, s).z, from_middle = V(Real(1)) - abs(z);
    // The former depth is used only close to the face that it was measured from.
    const auto same_face = from_middle < V(Real(1. / 128)) && upper == (z > zero);
    lane.place.depth = max(select(same_face, near_face, from_middle), zero);
  }
  THOR_FN V opacity(const Here&, Vec3<V>) const { return V(data.profile.opacity); }
  THOR_FN V velocity_along(const Here&, Vec3<V> p, Vec3<V> d) const {
    V v(Real(0));
    if (data.profile.moving) v = speed_over_radius(data.profile, abs(p.z)) * p.z * d.z;
    return v;
  }
  /// dv/ds along the ray: beta (v/z) mu^2.
  THOR_FN V gradient(V v_over_z, V dz) const { return V(data.profile.velocity_exponent) * v_over_z * dz * dz; }
  THOR_FN V velocity_gradient(Vec3<V> p, Vec3<V> d) const {
    V slope(Real(0));
    if (data.profile.moving) slope = gradient(speed_over_radius(data.profile, abs(p.z)), d.z);
    return slope;
  }
  /// Along a ray z plays the role of z/mu, and only v mu counts.
  THOR_FN V max_step(const Here&, Vec3<V> p, Vec3<V> d, V x) const {
    const V w = speed_over_radius(data.profile, abs(p.z)), mu = max(abs(d.z), V(Real(1e-10)));
    return limited_step(data.profile, divide(abs(p.z), mu), gradient(w, d.z), w * p.z * mu, x);
  }
  THOR_FN V core_scale(const Place&, const Here& here, Vec3<V> p, Vec3<V> d) const {
    V scale = here.depth;
    if (varies()) {
      const V w = speed_over_radius(data.profile, abs(p.z));
      scale = min(scale, gradient_scale(data.profile, abs(p.z), gradient(w, d.z)));
    }
    return scale;
  }

  template <class Lane>
  THOR_FN V room(const Lane& lane, const Here& here, const auto& limits) const {
    const Vec3<V> p{lane.px, lane.py, lane.pz};
    return min(here.depth, homogeneous_radius(data.profile, abs(p.z), limits));
  }
  /// alpha n_z/z.
  THOR_FN V density_slope(Vec3<V> p, Vec3<V> n) const {
    V slope(Real(0));
    if (data.profile.graded) {
      const V outward = select(p.z < V(Real(0)), -n.z, n.z);
      slope = V(data.profile.density_exponent) * divide(outward, max(abs(p.z), V(profile_floor<Real>)));
    }
    return slope;
  }
  /// (v/|z|) beta mu^2 with the mean of mu^2.
  THOR_FN V velocity_slope(const Here&, Vec3<V> p) const {
    V slope(Real(0));
    if (data.profile.moving) {
      slope = V(data.profile.velocity_exponent / Real(3)) * speed_over_radius(data.profile, abs(p.z));
    }
    return slope;
  }

  THOR_FN int locate(Vec3<V> p) const { return abs(p.z) <= V(1) ? gas : outside; }
  THOR_FN V depth_at(int, Vec3<V> p) const { return depth_at_birth(max(V(1) - abs(p.z), V(0))); }
  THOR_FN V distance_from_outside(Vec3<V> p, Vec3<V> d) const {
    return p.z * d.z < V(0) ? (abs(p.z) - V(1)) / abs(d.z) : V(-1);
  }
  THOR_FN Vec3<V> sample_position(V r, Vec3<V>) const { return {V(0), V(0), fma(V(2), r, V(-1))}; }
};

template <class Real>
THOR_FN RayEntry enter_model(const Slab<Real>&, const double (&p)[3], const double (&d)[3], double from) {
  const double z = p[2] + from * d[2], at = d[2] != 0 ? ((d[2] > 0 ? -1 : 1) - p[2]) / d[2] : 0;
  return {at, z > 1 || z < -1, at < from || d[2] == 0};
}
template <class Real>
ModelShape shape_of_model(const Slab<Real>&) {
  return {false, {__builtin_inf(), __builtin_inf(), 1}};
}

template <class V>
THOR_FN SlabView<V> view(const Slab<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA
}  // namespace thor
