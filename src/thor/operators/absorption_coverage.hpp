#pragma once
#include <cmath>

#include "thor/operators/ray_product.hpp"

/// Absorption spectra beyond the ends of their sightlines. In the Hubble flow gas beyond an end absorbs at other
/// velocities: in a periodic box it is that of the images, and of an open box nothing is known about it.
namespace thor {

/// A part of an axis, c ln(lambda/lambda_0) [cm/s].
struct Covered {
  double low = -HUGE_VAL, high = HUGE_VAL;

  bool has(double from, double to) const { return from >= low && to <= high; }
};

/// Where gas of each sightline alone absorbs. Gas beyond an end is taken to move as that at the end does: it absorbs up
/// to 3 b beyond the velocity v + H s of the end, in all transitions. All ranks call it; the result is that of the
/// first.
std::vector<Covered> covered_by(RayWork& work, const SightlineList& list, const std::vector<AbsorptionPlan>& plans,
                                config::GasBeyond beyond);

/// Warns of bins that are not covered; throws an Error(usage) where none is.
void tell_coverage(const std::vector<Covered>& covered, const AbsorptionPlan& plan, const std::string& key);

/// Sightlines `first` to `first + columns.size()` through all images of a periodic box whose gas absorbs in the range
/// of the plan, given how far from its place the gas absorbs in the core of the line [cm/s] and column densities
/// [cm^-2], for damping wings.
SightlineRays with_images(const GasOutline& gas, const SightlineList& list, std::size_t first,
                          const AbsorptionPlan& plan, double fastest, const std::vector<double>& columns);

}  // namespace thor
