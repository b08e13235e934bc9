#pragma once
#include <cstdint>

#include "thor/transport/lane.hpp"

namespace thor {

/// A photon whose life is over, in the units of the lanes (dataset size, thermal speed).
struct Photon {
  std::uint64_t id;
  double weight;             ///< luminosity that it stands for [erg/s]
  double weight_initial;     ///< luminosity at emission, before absorption on unresolved scales [erg/s]
  double frequency_initial;  ///< c ln(nu/nu_0)
  double frequency_final;
  double frequency_scattered;  ///< after its last scattering (or emission); differs only in the Hubble flow
  double position[3];          ///< of the last scattering, or of emission
  double position_initial[3];  ///< of emission; of a beam: where it entered the medium
  double direction[3];
  double column;             ///< n sigma_0 summed along its path
  std::int64_t scatterings;  ///< those of the tables of jumps included
  std::int64_t followed;     ///< scatterings that were followed one by one
  std::int64_t jumps;
  std::int64_t steps;
  std::uint64_t source;  ///< index among the sources of its generator
  int generator;
  Phase fate;  ///< escaped, absorbed, stopped or lost; fly or collide if it was still in flight
};

/// Light of a photon that an observer sees, in the units of the lanes.
struct Seen {
  std::uint64_t id;
  int observer;
  bool emitted;  ///< as it was emitted, without transfer
  double light;  ///< luminosity, as if it were the same in all directions [erg/s]
  double frequency;
  double position[3];  ///< of the scattering or emission that sends it
  int generator;       ///< of the photon
};

}  // namespace thor
