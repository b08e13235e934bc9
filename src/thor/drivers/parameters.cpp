#include "thor/drivers/parameters.hpp"

#include <algorithm>

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

const std::vector<Option<ErrorOf>>& errors() {
  static const std::vector<Option<ErrorOf>> list{
      {"total", ErrorOf::total, "of the sum of all bins"},
      {"peak", ErrorOf::peak, "of the brightest bin"},
      {"bin-median", ErrorOf::bin_median, "the one that half of the light within the range is at or below, bin by bin"},
  };
  return list;
}

}  // namespace

std::string name_of(ErrorOf of) { return std::ranges::find(errors(), of, &Option<ErrorOf>::value)->name; }

const Section<Until>& until_section() {
  static const Section<Until> section = [] {
    Section<Until> s(
        "The run goes on until an output is as exact as this, or to a limit. The `photons` of the generators are then "
        "the number after which it looks first, and the shares of the generators "
        "([how it works](long-runs.md#stop-at-an-error)).");
    s.text("output", &Until::output, "the name of an output", [](const std::string& name) { return !name.empty(); },
           {.meaning = "name of a spectrum, histogram, image, cube or profile", .example = "emergent"});
    s.choice("of", &Until::of, errors(), {.meaning = "which error of it", .fallback = "peak"});
    s.quantity("error", &Until::error, Dimension::fraction, {.low = 0, .high = 1, .low_open = true},
               {.meaning = "relative Monte Carlo error to reach", .example = "2%"});
    s.integer("max_photons", &Until::max_photons, 1, std::uint64_t{1} << 62,
              {.meaning = "most photons, whatever the error", .fallback = "1000000000"});
    s.optional_quantity(
        "max_time", &Until::max_time, Dimension::time, {.low = 1e-3, .high = 1e9},
        {.meaning = "time of transport after which no photon is started, whatever the error", .example = "1 h"});
    return s;
  }();
  return section;
}

}  // namespace thor::config
