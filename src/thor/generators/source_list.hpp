#pragma once
#include "thor/generators/emitter.hpp"

namespace thor {

/// The cells or points of a generator of type gas or sources, with photons and weights such that their luminosity is
/// kept; none before the cells of the grid are loaded.
std::shared_ptr<const SourceList> build_source_list(const config::Generator& generator, const Medium& medium,
                                                    std::uint64_t seed, Light& light);

/// How many photons sources of these luminosities have, the next one at each call.
///
///   photons           N in all, of one weight: source i has floor(N C_i/L + u) - floor(N C_{i-1}/L + u) of them, C the
///                     luminosity up to it and u one uniform number, which is N L_i/L on average
///   photons_per_1e42  n L_i/1e42 to the nearest integer, within min_photons and max_photons
class PhotonShare {
 public:
  PhotonShare(const config::Generator& generator, double luminosity, double u)
      : generator_(generator), luminosity_(luminosity), u_(u) {}
  std::uint64_t next(double luminosity);

 private:
  const config::Generator& generator_;
  double luminosity_, u_, sum_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace thor
