#pragma once

namespace thor {

/// What a march adds up along its rays: the same for all lanes.
enum class MarchSum : int {
  optical_depth,  ///< of line and dust, at the frequency of the ray
  column          ///< n sigma_0 of the first transition at the run's own thermal speed
};

/// A ray, in units of the dataset: lengths in its size, the frequency c ln(nu/nu_0) in thermal speeds. In a grid it
/// starts inside.
struct Ray {
  double position[3], direction[3], frequency;
};

}  // namespace thor
