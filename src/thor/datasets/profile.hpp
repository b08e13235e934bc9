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
  Real reach_exponent;     ///< 1/beta, but 1 for 0 <= beta <= 1 and at least -1: farthest_reach()
  Real straightness;       ///< 2/|beta (beta - 1)|, at most 1: limited_step()
  Real step_limiter;       ///< f
  bool graded;             ///< alpha != 0
  bool moving;             ///< speed != 0
  bool linear;             ///< beta == 1

  static void for_each_field(auto f, auto&... p) {
    f(p.opacity...), f(p.density_exponent...), f(p.speed...), f(p.velocity_exponent...), f(p.reach_exponent...),
        f(p.straightness...), f(p.step_limiter...);
    f(p.graded...), f(p.moving...), f(p.linear...);
  }
};

/// v = speed r^exponent, in thermal units.
template <class Real>
void set_velocity(Profile<Real>& p, Real speed, Real exponent) {
  p.speed = speed, p.velocity_exponent = exponent;
  p.reach_exponent = exponent > 1 ? 1 / exponent : exponent < -1 ? 1 / exponent : exponent < 0 ? Real(-1) : Real(1);
  const Real bend = exponent * (exponent - 1) / 2;
  p.straightness = bend > 1 ? 1 / bend : Real(1);
  p.moving = speed != 0, p.linear = exponent == 1;
}

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

/// The longest way over which the speed along any ray changes by at most q |v|: the way outward along a radius where
/// |v| ~ r^beta grows outward, (1 + l/r)^beta = 1 + q, and inward where it falls.
template <class V>
THOR_FN V farthest_reach(const Profile<RealOf<V>>& p, V r, V q) {
  const V one(RealOf<V>(1));
  return r * abs(power(one + q, p.reach_exponent) - one);
}

/// The step limiter (DESIGN section 1): l <= f r/|alpha|, and the velocity along the ray changes by at most
/// D = f profile_scale(x) over l. Where v is not proportional to r, the gradient at the start is not enough: it changes
/// over a distance r, so that l <= r sqrt(2 D/(|beta (beta - 1)| |v|)) as well. That holds where the gas is faster than
/// D; slower gas, about the centre, has the bound for all rays. Over a whole sub-step the mid-point rule errs by f^2,
/// and so does fly() where one ends at a collision. Sub-steps in a density gradient do not pass the centre.
template <class V>
THOR_FN V limited_step(const Profile<RealOf<V>>& p, V r, V gradient, V speed, V x) {
  using Real = RealOf<V>;
  const V tiny(Real(1e-20)), one(Real(1));
  V limit(no_limit<Real>);
  const V f(p.step_limiter);
  if (p.graded) {
    limit = min(f * r / V(abs(p.density_exponent)), V(Real(0.5)) * r);
  }
  if (p.moving) {
    const V allowed = f * profile_scale(x);
    V way = divide(allowed, max(abs(gradient), tiny));
    if (!p.linear) {
      const V q = divide(allowed, max(abs(speed), tiny));
      const auto slow = q > one;
      way = min(way, r * sqrt(q * V(p.straightness)));
      if (any(slow)) way = select(slow, farthest_reach(p, r, q), way);
    }
    limit = min(limit, way);
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
