#pragma once
#include <cstdint>

#include "thor/transport/lane.hpp"

namespace thor {

/// A photon whose life is over, in the units of the lanes (dataset size, thermal speed).
struct Photon {
  std::uint64_t id;
  double weight;             ///< luminosity that it stands for [erg/s]
  double frequency_initial;  ///< c ln(nu/nu_0)
  double frequency_final;
  double frequency_scattered;  ///< as it left its last scattering (or emission): another one only in the Hubble flow
  double position[3];          ///< of the last scattering, or of emission
  double direction[3];
  double column;  ///< n sigma_0 summed along its way
  std::int64_t scatterings;
  std::int64_t steps;
  int generator;
  Phase fate;  ///< escaped, absorbed, stopped or lost; fly or collide if it was still in flight
};

}  // namespace thor
