#pragma once
#include "thor/math/functions.hpp"

namespace thor {

/// Core skipping: scatterings within |x| < x_crit draw the atom's perpendicular speed beyond x_crit.
/// `local`: x_crit = 0.2 (a tau_loc)^{1/3} for a tau_loc >= 1 (Smith et al. 2015), otherwise the fixed number `x_crit`
/// of the first transition.
template <class Real>
struct CoreSkip {
  bool local;
  Real x_crit;  ///< 0: none
  Real cap;     ///< an upper limit on the local value
};

inline namespace THOR_ISA {

/// The critical frequency at a photon's place, for the transition that it hit.
template <class V, class D, class I>
THOR_FN V critical_frequency(const CoreSkip<RealOf<V>>& skip, const D& dataset, const I& interactor, const auto& target,
                             const typename D::Place& place, const typename D::Here& here, Vec3<V> position,
                             Vec3<V> direction) {
  using Real = RealOf<V>;
  V x_crit(Real(0));
  if (skip.local) {
    const V a_tau = target.a * interactor.strength(target) * dataset.opacity(here, position) *
                    dataset.core_scale(place, here, position, direction);
    const V root = fast_cbrt(max(a_tau, V(Real(1))));
    x_crit = select(a_tau >= V(Real(1)), min(V(Real(0.2)) * root, V(skip.cap)), V(Real(0)));
  } else if (skip.x_crit > Real(0)) {
    x_crit = interactor.x_crit(skip, target);
  }
  return x_crit;
}

/// The path that core skipping hides, in units of 1/(n sigma_0). A scattering within |x| < x_crit stands for all those
/// with a perpendicular speed below x_crit before the first one above: N = e^{x_crit^2} - 1 of them, or as many as it
/// takes to leave through the wing, each with a flight of <1/H>. The constants are fits to a simulation of that
/// sequence for 1e-4 < a < 1e-2 and x_crit < 6; tests/statistics/hidden_path_test.cpp holds it to 10 per cent for
/// a = 4.7e-4 to 1e-2 and x_crit = 1 to 3.
template <class V>
THOR_FN V hidden_path(V x_crit, V a) {
  using Real = RealOf<V>;
  const V one(Real(1)), x2 = x_crit * x_crit;
  const V tail = divide(one, max(V(Real(0.93)) * (exp(x2) - one), V(Real(1e-10))));
  const V wing = divide(V(Real(0.76)) * a, max(x2 * x_crit, V(Real(1e-10))));
  const V flight = min(fma(x2, V(Real(0.265)), one), x_crit + V(Real(0.2)));
  return divide(flight, tail + wing);
}

}  // namespace THOR_ISA
}  // namespace thor
