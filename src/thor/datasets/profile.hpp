#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/math/functions.hpp"

namespace thor {

/// Power laws of density and speed in the coordinate r (radius of a shell, |z| of a slab), as the kernel sees them.
template <class Real>
struct Profile {
  Real opacity;            ///< n sigma_0 per unit length at r = 1
  Real density_exponent;   ///< n ~ r^alpha
  Real speed;              ///< at r = 1, in thermal units; negative is inflow
  Real velocity_exponent;  ///< v ~ r^beta
  Real step_limiter;       ///< f
  bool graded;             ///< alpha != 0
  bool moving;             ///< speed != 0
  bool linear;             ///< beta == 1

  static void for_each_field(auto f, auto&... p) {
    f(p.opacity...), f(p.density_exponent...), f(p.speed...), f(p.velocity_exponent...), f(p.step_limiter...);
    f(p.graded...), f(p.moving...), f(p.linear...);
  }
};

inline namespace THOR_ISA {

/// r^alpha for r > 0.
template <class V>
THOR_FN V power(V r, RealOf<V> alpha) {
  return exp(V(alpha) * log(r));
}

/// Below this radius a profile is taken as constant. It is also the shortest sub-step, so that a photon can leave
/// a point where a gradient diverges.
template <class Real>
inline constexpr Real profile_floor = Real(1e-6);

template <class V>
THOR_FN V graded_opacity(const Profile<RealOf<V>>& p, V r) {
  return V(p.opacity) * power(max(r, V(profile_floor<RealOf<V>>)), p.density_exponent);
}

/// v/r, which times the position is the velocity.
template <class V>
THOR_FN V speed_over_radius(const Profile<RealOf<V>>& p, V r) {
  using Real = RealOf<V>;
  V w(p.speed);
  if (!p.linear) w = w * power(max(r, V(profile_floor<Real>)), p.velocity_exponent - Real(1));
  return w;
}

/// The step limiter (DESIGN section 1): l <= f min(v_th/|dv/ds| max(1, |x|), r/|alpha|). The mid-point rule errs by
/// f^2 over a whole sub-step; in one that ends at a collision, fly() corrects the density, and the velocity errs by f:
/// docs/physics.md has the resulting error. Sub-steps in a density gradient do not pass the centre. Where
/// v is not proportional to r its gradient along the ray changes over a distance r, so that l <= r sqrt(f max(1,
/// |x|)/|v|) as well.
template <class V>
THOR_FN V limited_step(const Profile<RealOf<V>>& p, V r, V gradient, V speed, V x) {
  using Real = RealOf<V>;
  const V tiny(Real(1e-20));
  V limit(no_limit<Real>);
  const V f(p.step_limiter);
  if (p.graded) {
    limit = min(f * r / V(abs(p.density_exponent)), V(Real(0.5)) * r);
  }
  if (p.moving) {
    const V allowed = f * max(V(Real(1)), abs(x));
    limit = min(limit, divide(allowed, max(abs(gradient), tiny)));
    if (!p.linear) limit = min(limit, r * sqrt(divide(allowed, max(abs(speed), tiny))));
  }
  return max(limit, V(profile_floor<Real>));
}

/// The radius of a sphere across which velocity and density change by less than sphere jumps allow, in any direction:
/// dv/ds lies between v/r and beta v/r. Where beta > 1 it grows outward: the limit holds at r + R, with 2 r for it in
/// R <= r and 2 R beyond.
template <class V>
THOR_FN V homogeneous_radius(const Profile<RealOf<V>>& p, V r, const auto& limits) {
  using Real = RealOf<V>;
  V radius(no_limit<Real>);
  if (p.graded) radius = V(limits.gradient) * r / V(abs(p.density_exponent));
  if (p.moving) {
    const Real beta = abs(p.velocity_exponent);
    V steepest = abs(speed_over_radius(p, r));
    if (p.velocity_exponent > Real(1)) {
      const V outward = V(beta) * power(V(Real(2)), beta - Real(1));
      const V at_centre = divide(V(limits.shear), max(outward * V(abs(p.speed)), V(Real(1e-20))));
      steepest = outward * steepest;
      radius = min(radius, max(r, power(at_centre, Real(1) / beta)));
    } else {
      steepest = steepest * V(beta > Real(1) ? beta : Real(1));
    }
    radius = min(radius, divide(V(limits.shear), max(steepest, V(Real(1e-20)))));
  }
  return radius;
}

/// The shortest of v_th/|dv/ds| and rho/|grad rho|, for core skipping.
template <class V>
THOR_FN V gradient_scale(const Profile<RealOf<V>>& p, V r, V gradient) {
  using Real = RealOf<V>;
  V scale(no_limit<Real>);
  if (p.graded) scale = r / V(abs(p.density_exponent));
  if (p.moving) scale = min(scale, divide(V(Real(1)), max(abs(gradient), V(Real(1e-20)))));
  return scale;
}

}  // namespace THOR_ISA
}  // namespace thor
