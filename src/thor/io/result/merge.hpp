#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace thor::io {

/// What is to be joined, and where to.
struct Merge {
  std::string result;  ///< of a run on several ranks
  std::string output;  ///< another file; "": it takes the place of the result
  bool overwrite = false;
};

/// Photons of a result and of its parts as one file, as a single process would have written it; with blocks of rows in
/// memory, and at most one binned array. Everything is checked before anything is written, and the new file is whole
/// before it gets its name. Returns the names of the parts. Throws Error(input) where a part is missing, damaged or of
/// another run, Error(output) where the disk does not take it, and Error(stopped) after a signal.
std::vector<std::string> merge_parts(const Merge& merge,
                                     const std::function<void(std::uint64_t rows, std::uint64_t of)>& progress);

}  // namespace thor::io
