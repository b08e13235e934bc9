#pragma once
#include "thor/random/uniform.hpp"

namespace thor {
inline namespace THOR_ISA {

/// The optical depth to the next collision, p(tau) = e^{-tau}, by inversion.
template <class V>
THOR_FN V sample_exponential(WordOf<V> word) {
  return -log(uniform_positive<V>(word));
}

}  // namespace THOR_ISA
}  // namespace thor
