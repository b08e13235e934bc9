#pragma once
#include <cstdint>

#include "thor/interactors/resonant_line.hpp"

namespace thor {

/// Core skipping: scatterings within |x| < x_crit draw the atom's perpendicular speed beyond x_crit.
/// `local`: x_crit = 0.2 (a tau_loc)^{1/3} for a tau_loc >= 1 (Smith et al. 2015), else the number `x_crit`.
template <class Real>
struct CoreSkip {
  bool local;
  Real x_crit;  ///< 0: none
  Real cap;     ///< an upper limit on the local value
};

/// A photon beyond these is lost.
struct Caps {
  std::int32_t scatterings;
  std::int32_t steps;
};

/// Everything that a step reads: plain data, copied to a device as it is.
template <class D>
struct Problem {
  using Dataset = D;
  using Real = typename D::Real;
  D dataset;
  ResonantLine<Real> line;
  CoreSkip<Real> core_skip;
  Caps caps;
};

}  // namespace thor
