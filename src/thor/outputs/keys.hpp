#pragma once
#include <algorithm>
#include <cmath>

#include "thor/config/section.hpp"
#include "thor/outputs/binned.hpp"

/// Keys that binned outputs have in common, for their .cpp files.
namespace thor::config {

/// A directory of a zarr result has that name: file systems have 255 bytes for it.
inline constexpr std::size_t longest_name = 100;

/// `name` and `of`.
template <class Output>
void declare_binned(Section<Output>& s) {
  const auto is_name = [](const std::string& text) {
    const auto allowed = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), allowed);
  };
  s.text("name", &Output::name, "a name of at most 100 letters, digits, _ and -", is_name,
         {.meaning = "of the group in the result file; each only once", .example = "emergent"});
  s.choice("of", &Output::of,
           std::vector<Option<Fate>>{
               {"escaped", Fate::escaped, "photons that left the gas"},
               {"emitted", Fate::emitted, "all photons, as they started"},
               {"absorbed", Fate::absorbed, "photons that dust absorbed"},
               {"stopped", Fate::stopped,
                "photons that were shifted beyond `stop_shift` of a grid, as they left their last scattering"},
           },
           {.meaning = "which photons", .fallback = "escaped"});
}

/// Edges must be numbers, each above the one before; those of a logarithmic axis are found from high/low.
inline void check_edges(Reader& reader, double low, double high, std::uint64_t bins, bool logarithmic = false) {
  if (!reader.clean("range") || !reader.clean("bins") || bins == 0) return;
  if (!(high - low < 1e300) || (logarithmic && low > 0 && !(high / low < 1e300))) {
    reader.report("range", "too wide to be divided into bins");
  } else if ((high - low) / double(bins) < 1e-13 * std::max(std::abs(low), std::abs(high))) {
    reader.report("range", "too narrow for so many bins: their edges would be the same number");
  }
}

}  // namespace thor::config
