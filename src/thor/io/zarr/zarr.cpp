#include "thor/io/zarr/zarr.hpp"

#include <system_error>

namespace thor::io::detail::zarr {
namespace fs = std::filesystem;

bool is_group(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / ".zgroup", ignored);
}

bool is_array(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / ".zarray", ignored);
}

bool is_safe(const std::string& relative) {
  if (relative.empty()) return true;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = relative.find('/', begin);
    const std::string part = relative.substr(begin, end == std::string::npos ? end : end - begin);
    if (part.empty() || part == "." || part == ".." || part.starts_with(".z") || part.find('\0') != std::string::npos) {
      return false;
    }
    begin = end == std::string::npos ? end : end + 1;
  }
  return true;
}

std::string chunk_key(const std::vector<std::uint64_t>& index, char separator) {
  std::string key;
  for (const auto i : index) key += (key.empty() ? "" : std::string(1, separator)) + std::to_string(i);
  return key;
}

}  // namespace thor::io::detail::zarr
