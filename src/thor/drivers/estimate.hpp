#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/drivers/mcrt.hpp"

namespace thor {

/// A number that a configuration comes to.
struct Derived {
  std::string name;
  double value;
  std::string units;
  std::string meaning;
};

/// What follows from the configuration alone: optical depth, column density, thermal speed, x_crit, ...
std::vector<Derived> derived_quantities(const config::Config& config, const Setup& setup);

/// Of a result file [bytes]: the raw photons, and all else with some room to spare.
struct ResultSize {
  double photons = 0, rest = 0;
};
ResultSize result_size(const config::Config& config, const Setup& setup);

/// What a run will take, from a trial of two seconds on the processor.
struct Estimate {
  std::uint64_t finished = 0;   ///< photons of the trial; with none the rest is a lower limit
  double scatterings = 0;       ///< of a photon, mean
  double steps_per_second = 0;  ///< of all threads
  double seconds = 0;           ///< of transport
  double memory = 0;            ///< [bytes]
  double file_size = 0;         ///< [bytes], at most
};

Estimate estimate(const config::Config& config, const Setup& setup, const cpu::Options& options);

}  // namespace thor
