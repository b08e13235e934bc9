#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thor::io {

/// Enough of a file to tell whether it is still the same one.
struct Fingerprint {
  std::uint64_t bytes = 0;  ///< of a directory: of all files in it
  std::uint64_t hash = 0;   ///< FNV-1a of its size and of all bytes, of more than 1 GiB of 16384 pieces of 64 KiB,
                            ///< evenly spread, and of other files that hold values of an HDF5 file; of a directory:
                            ///< of all files in it, with their names, behind symbolic links too
  std::vector<std::string> others{};  ///< those other files, wherever they lie

  bool operator==(const Fingerprint& print) const { return bytes == print.bytes && hash == print.hash; }
};

/// Of an HDF5 file, a zarr directory or any other; a pipe has none. Throws thor::Error(ExitCode::input) if it cannot be
/// read.
Fingerprint fingerprint(const std::string& path);

/// The same hash of a text.
std::uint64_t hash_of(std::string_view text);

}  // namespace thor::io
