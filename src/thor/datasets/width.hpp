#pragma once
#include "thor/math/functions.hpp"

/// The thermal speed of the gas where a photon is, in units of that of the run: frequencies and the quantities that
/// depend on them (a ~ 1/w, sigma_0 ~ 1/w) scale with it.
namespace thor {
inline namespace THOR_ISA {

/// One temperature for all: nothing to do.
template <class V>
struct SameWidth {
  THOR_FN V over(V x) const { return x; }      ///< x/w
  THOR_FN V times(V x) const { return x; }     ///< x w
  THOR_FN V envelope(V x) const { return x; }  ///< ln(1 + Y^2/a^2), for an a that is 1/w of that of x
};

template <class V>
struct CellWidth {
  using Real = RealOf<V>;
  V width, inverse;
  THOR_FN V over(V x) const { return x * inverse; }
  THOR_FN V times(V x) const { return x * width; }
  /// Larger by up to 2e-4: the envelope then reaches a little further, and is no less exact.
  THOR_FN V envelope(V x) const { return fma(V(Real(2)), log(width), x + V(Real(1e-4))); }
};

}  // namespace THOR_ISA
}  // namespace thor
