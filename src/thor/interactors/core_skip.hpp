#pragma once

namespace thor {

/// Core skipping: scatterings within |x| < x_crit draw the atom's perpendicular speed beyond x_crit.
/// `local`: x_crit = 0.2 (a tau_loc)^{1/3} for a tau_loc >= 1 (Smith et al. 2015), else the number `x_crit`, that of
/// the first transition.
template <class Real>
struct CoreSkip {
  bool local;
  Real x_crit;  ///< 0: none
  Real cap;     ///< an upper limit on the local value
};

}  // namespace thor
