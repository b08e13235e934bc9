#pragma once
#include <limits>

#include "thor/config/section.hpp"
#include "thor/drivers/config.hpp"

namespace thor::config {

/// Of dataset.compact, in double precision.
inline constexpr const char* compact_in_double =
    "has planes of single precision: use `precision: single`, or leave it out";

/// Declares the keys that configurations of all drivers have, after `driver`, with the meanings that differ; `of` finds
/// a member of CommonKeys in a T.
template <class T, class Of>
void add_common_keys(Section<T>& s, const Of& of, const Spec& line, const char* seed, const char* precision) {
  s.text(
      "line", of(&CommonKeys::line), "the name of a line", [](const std::string& name) { return !name.empty(); }, line);
  s.text("line_list", of(&CommonKeys::line_list), "a file name", [](const std::string&) { return true; },
         {.meaning = "file with further lines ([lines](lines.md)); its path is relative to the configuration",
          .fallback = ""});
  s.integer("seed", of(&CommonKeys::seed), 0, std::numeric_limits<std::uint64_t>::max(),
            {.meaning = seed, .fallback = "1"});
  s.choice("precision", of(&CommonKeys::precision),
           std::vector<Option<Precision>>{{"single", Precision::single_, "32-bit numbers"},
                                          {"double", Precision::double_, "64-bit numbers, about half as fast"}},
           {.meaning = precision, .fallback = "single"});
  s.map("dataset", of(&CommonKeys::dataset), dataset_section(),
        {.meaning = "the gas: geometry, density, temperature, velocity, dust"});
}

/// Declares output.path.
template <class T>
void add_result_path(Section<T>& s, std::string T::*path, const char* example) {
  s.text(
      "path", path, "a file name that ends in .h5 or .zarr", is_result_name,
      {.meaning = "result file, relative to the configuration: .h5 (HDF5) or .zarr (a directory)", .example = example});
}

}  // namespace thor::config
