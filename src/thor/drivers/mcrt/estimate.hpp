#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/core/derived.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"

namespace thor {

/// Numbers that follow from a configuration without running it: optical depth, column density, thermal speed, x_crit,
/// ...
std::vector<Derived> derived_quantities(const config::Config& config, const Setup& setup);

/// Size of a result file [bytes]: the raw photons, and a generous estimate of the rest.
struct ResultSize {
  double photons = 0, rest = 0;
};
ResultSize result_size(const config::Config& config, const Setup& setup);

/// The cost of a run, from a trial of two seconds on the processor.
struct Estimate {
  std::uint64_t finished = 0;   ///< photons that ended in the trial; if none did, the other numbers are lower limits
  double scatterings = 0;       ///< mean per photon
  double steps_per_second = 0;  ///< sum over all threads
  double seconds = 0;           ///< time of transport
  double memory = 0;            ///< [bytes]
  double file_size = 0;         ///< [bytes], at most
};

Estimate estimate(const config::Config& config, const Setup& setup, const cpu::Options& options);

}  // namespace thor
