#include "thor/io/fingerprint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/io/array/other_files.hpp"

namespace thor::io {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t pieces = 1 << 14, piece = 1 << 16;  ///< all of a file of up to 1 GiB

/// Fowler, Noll and Vo's hash, variant 1a, of 64 bits (RFC 9923), of eight bytes at a time; its upper half is mixed in,
/// since a product does not carry downward.
void add(std::uint64_t& hash, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0x100000001b3ull;
    hash ^= hash >> 32;
  }
}

/// Adds `count` pieces of a file, evenly spread from its first byte to its last, or all of it.
void add_file(const fs::path& path, std::uint64_t count, Fingerprint& print) {
  const std::uint64_t bytes = fs::file_size(path);
  print.bytes += bytes;
  add(print.hash, std::to_string(bytes));
  std::ifstream file(path, std::ios::binary);
  file.exceptions(std::ios::badbit | std::ios::failbit);
  std::string text;
  const bool all = bytes <= count * piece;
  const std::uint64_t reads = all ? (bytes + piece - 1) / piece : count;
  for (std::uint64_t i = 0; i < reads; ++i) {
    text.resize(all ? std::min(piece, bytes - i * piece) : piece);
    file.seekg(std::streamoff(all ? i * piece : count == 1 ? 0 : (bytes - piece) / (count - 1) * i));
    file.read(text.data(), std::streamsize(text.size()));
    add(print.hash, text);
  }
}

/// The files of a folder by their names in it, behind symbolic links too: an array of a zarr directory, or a chunk, may
/// be elsewhere. A folder inside of itself is left out; where a link leads does not count, only what is there.
void list_files(const fs::path& folder, const fs::path& name, std::set<fs::path>& above,
                std::map<fs::path, fs::path>& files) {
  const auto [self, is_new] = above.insert(fs::canonical(folder));
  if (!is_new) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path below = name / entry.path().filename();
    std::error_code none;  // a link may lead nowhere
    if (entry.is_directory(none)) list_files(entry.path(), below, above, files);
    if (entry.is_regular_file(none)) files[below] = entry.path();
  }
  above.erase(self);
}

constexpr std::uint64_t nothing = 0xcbf29ce484222325ull;  ///< the hash of no bytes

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = nothing;
  add(hash, text);
  return hash;
}

Fingerprint fingerprint(const std::string& path) {
  Fingerprint print{0, nothing, {}};
  try {
    if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)) return {};
    if (!fs::is_directory(path)) {
      add_file(path, pieces, print);
      const std::uint64_t bytes = print.bytes;
      for (const auto& [other, arrays] : detail::other_files(path)) {
        add_file(other, pieces, print);
        for (const auto address : arrays) add(print.hash, std::to_string(address));
        print.others.push_back(other.string());
      }
      print.bytes = bytes;
      return print;
    }
    std::set<fs::path> above;
    std::map<fs::path, fs::path> files;
    list_files(path, {}, above, files);
    for (const auto& [name, file] : files) {
      add(print.hash, name.string());
      add_file(file, std::max<std::uint64_t>(pieces / files.size(), 1), print);
    }
  } catch (const std::exception& e) {
    throw Error(ExitCode::input, path + ": cannot be read: " + e.what());
  }
  return print;
}

}  // namespace thor::io
