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

}  // namespace THOR_ISA
}  // namespace thor
