#pragma once
#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"

namespace thor::gridding {

/// Cubic spline of Monaghan (1992, ARA&A 30, 543) that ends at the radius l: W(r) = 8/(pi l^3) w(r/l),
///   w(q) = 1 - 6 q^2 + 6 q^3 for q < 1/2, 2 (1 - q)^3 up to 1,
/// which is the same as 2 (1 - q)_+^3 - 8 (1/2 - q)_+^3.
template <class Real>
Real spline(Real q) {
  const Real outer = std::max(Real(1) - q, Real(0));
  const Real inner = std::max(Real(0.5) - q, Real(0));
  return Real(2) * outer * outer * outer - Real(8) * inner * inner * inner;
}

/// Integral of w over space, in units of l^3.
inline constexpr double spline_integral = constants::pi / 8;

/// Kernel of a Voronoi cell of this volume (paper section 4.1): l = 2.5 (3 V/4 pi)^(1/3).
inline double kernel_radius(double volume, double factor = 2.5) {
  return factor * std::cbrt(3 * volume / (4 * constants::pi));
}

}  // namespace thor::gridding
