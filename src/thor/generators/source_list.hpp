#pragma once
#include "thor/generators/emitter.hpp"

namespace thor {

/// The cells or points of a generator of type gas or sources, with their shares of its photons; source i is cell i of
/// the grid, or row i of the list.
///
///   photons           N in all, of one weight L/N: a photon comes from source i with the probability L_i/L, and of any
///                     number of photons from the first on a source has its share to within a few
///   photons_per_1e42  source i has n L_i/1e42 to the nearest integer, within min_photons and max_photons, each of the
///                     weight that keeps L_i
std::shared_ptr<const SourceList> build_source_list(const config::Generator& generator, const Medium& medium,
                                                    std::uint64_t seed, Light& light);

}  // namespace thor
