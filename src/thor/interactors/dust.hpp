#pragma once
#include "thor/distributions/henyey_greenstein.hpp"

namespace thor {

/// Dust that follows the gas, as the kernel sees it.
template <class R>
struct Dust {
  using Real = R;
  Real ratio;   ///< extinction over n sigma_0 of the first transition; 0: none
  Real albedo;  ///< share of scattering in the extinction
  Real g;       ///< <cos> of a scattering
};

}  // namespace thor
