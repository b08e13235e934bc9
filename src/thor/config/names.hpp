#pragma once
#include <algorithm>
#include <string>

/// Names that users give to outputs and generators.
namespace thor::config {

/// A directory of a zarr result has that name: file systems have 255 bytes for it.
inline constexpr std::size_t longest_name = 100;
inline constexpr const char* expected_name = "a name of at most 100 letters, digits, _ and -";

inline bool is_name(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, allowed);
}

}  // namespace thor::config
