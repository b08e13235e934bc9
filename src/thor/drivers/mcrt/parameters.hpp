#pragma once
#include <optional>
#include <string>

#include "thor/outputs/tally.hpp"

namespace thor::config {

/// When a run has enough photons.
struct Until {
  std::string output;          ///< name of the binned output whose error counts
  ErrorOf of = ErrorOf::peak;  ///< which error of it
  double error = 0;            ///< relative
  std::uint64_t max_photons = 0;
  std::optional<double> max_time{};  ///< [s]

  bool operator==(const Until&) const = default;
};
const Section<Until>& until_section();

/// The name that a configuration has for it.
std::string name_of(ErrorOf of);

}  // namespace thor::config
