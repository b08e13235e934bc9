#include "thor/drivers/mcrt/parameters.hpp"

#include <algorithm>

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

const std::vector<Option<ErrorOf>>& errors() {
  static const std::vector<Option<ErrorOf>> list{
      {"total", ErrorOf::total, "error of the sum of all bins"},
      {"peak", ErrorOf::peak, "error of the brightest bin"},
      {"bin-median", ErrorOf::bin_median, "median error of bins, weighted by light"},
  };
  return list;
}

}  // namespace

std::string name_of(ErrorOf of) { return std::ranges::find(errors(), of, &Option<ErrorOf>::value)->name; }

const Section<Until>& until_section() {
  static const Section<Until> section = [] {
    Section<Until> s(
        "The run continues until an output has this error, or to a limit. The error is computed first after the "
        "`photons` of the generators, which also set the shares of the generators ([how it "
        "works](long-runs.md#stop-at-an-error)).");
    s.text("output", &Until::output, "the name of an output", [](const std::string& name) { return !name.empty(); },
           {.meaning = "name of a spectrum, histogram, image, cube or profile", .example = "emergent"});
    s.choice("of", &Until::of, errors(), {.meaning = "bins whose error is meant", .fallback = "peak"});
    s.quantity("error", &Until::error, Dimension::fraction, {.low = 0, .high = 1, .low_open = true},
               {.meaning = "relative Monte Carlo error to reach", .example = "2%"});
    s.integer("max_photons", &Until::max_photons, 1, std::uint64_t{1} << 62,
              {.meaning = "maximum number of photons", .fallback = "1000000000"});
    s.optional_quantity("max_time", &Until::max_time, Dimension::time, {.low = 1e-3, .high = 1e9},
                        {.meaning = "maximum transport time; photons in flight then end", .example = "1 h"});
    return s;
  }();
  return section;
}

}  // namespace thor::config
