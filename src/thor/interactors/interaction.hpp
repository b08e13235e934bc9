#pragma once
#include "thor/math/functions.hpp"

/// What a collision gives, whatever was hit.
namespace thor {
inline namespace THOR_ISA {

/// A photon after a collision.
template <class V>
struct Outcome {
  V mu, sine;  ///< scattering angle
  V x;         ///< new frequency in the frame of the gas
};

/// What a collision sends towards a given direction.
template <class V>
struct Look {
  V weight;  ///< probability per unit solid angle, times 4 pi
  V x;       ///< frequency in the frame of the gas
};

/// The optical depth of a sphere jump up to which recoil, by g thermal widths a scattering, is a small change of its
/// exits: g (a tau)^{1/3} = 0.1.
template <class V>
THOR_FN V jump_depth_of_recoil(V g, V a) {
  using Real = RealOf<V>;
  const V width = divide(V(Real(0.1)), max(g, V(Real(1e-10))));
  return divide(width * width * width, a);
}

}  // namespace THOR_ISA
}  // namespace thor
