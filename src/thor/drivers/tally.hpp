#pragma once
#include <cstdint>
#include <vector>

#include "thor/outputs/spectrum.hpp"

namespace thor {

/// What one worker has counted; merged in the order of the workers. Counts are integers, luminosities doubles.
struct Tally {
  std::uint64_t escaped = 0, absorbed = 0, lost = 0, in_flight = 0;
  std::uint64_t scatterings = 0, steps = 0;
  double luminosity_emitted = 0, luminosity_escaped = 0, luminosity_absorbed = 0, luminosity_lost = 0,
         luminosity_in_flight = 0;
  std::vector<Spectrum> spectra;

  void accept(const Photon& photon);
  void merge(const Tally& other);
  std::uint64_t photons() const { return escaped + absorbed + lost + in_flight; }
  void write(io::File& file) const;
};

}  // namespace thor
