#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "thor/io/snapshot/error.hpp"

/// How the files of a RAMSES output are read.
namespace thor::io {

namespace fs = std::filesystem;

/// Records that Fortran wrote: a length of 4 bytes before and after each.
class Records {
 public:
  explicit Records(const fs::path& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_)
      fail_snapshot(path, "the file of a process is missing or cannot be read: copy all files of the output");
    std::error_code none;
    size_ = std::int64_t(fs::file_size(path, none));
    std::int32_t first = 0;
    if (stream_.read(reinterpret_cast<char*>(&first), 4) && first == 0x04000000) {
      fail_snapshot(path, "written on a machine with the other byte order, which thor does not read");
    }
    stream_.seekg(0);
  }

  template <class T>
  std::vector<T> next(std::int64_t count = -1) {
    const std::int64_t bytes = begin();
    if (bytes % std::int64_t(sizeof(T)) != 0 || (count >= 0 && bytes != count * std::int64_t(sizeof(T)))) {
      fail_snapshot(path_, fmt::format("record {} has {} bytes, {} were expected: is it of this RAMSES output, and of "
                                       "three dimensions?",
                                       number_, bytes, count * std::int64_t(sizeof(T))));
    }
    std::vector<T> values(std::size_t(bytes) / sizeof(T));
    stream_.read(reinterpret_cast<char*>(values.data()), bytes);
    end(bytes);
    return values;
  }
  template <class T>
  T one() {
    return next<T>(1).front();
  }
  void skip(int records = 1) {
    for (int i = 0; i < records; ++i) {
      const std::int64_t bytes = begin();
      stream_.seekg(bytes, std::ios::cur);
      end(bytes);
    }
  }

 private:
  std::int64_t begin() {
    ++number_;
    std::int32_t bytes = -1;
    stream_.read(reinterpret_cast<char*>(&bytes), 4);
    if (!stream_ || bytes < 0 || std::int64_t(stream_.tellg()) + bytes + 4 > size_) {
      fail_snapshot(path_, fmt::format("cut short, or damaged, in record {}", number_));
    }
    return bytes;
  }
  void end(std::int64_t bytes) {
    std::int32_t again = -1;
    stream_.read(reinterpret_cast<char*>(&again), 4);
    if (!stream_ || again != bytes) fail_snapshot(path_, fmt::format("damaged in record {}", number_));
  }

  fs::path path_;
  std::ifstream stream_;
  std::int64_t size_ = 0;
  int number_ = 0;
};

inline std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "name = value" of each line of a text file.
inline std::map<std::string, std::string> entries_of(const fs::path& path) {
  std::ifstream file(path);
  if (!file) fail_snapshot(path, "there is no such file, or it cannot be read");
  std::map<std::string, std::string> entries;
  for (std::string line; std::getline(file, line);) {
    if (const auto equals = line.find('='); equals != std::string::npos) {
      entries[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    }
  }
  return entries;
}

inline double number_of(const fs::path& path, const std::map<std::string, std::string>& entries,
                        const std::string& name) {
  const auto found = entries.find(name);
  double value = 0;
  if (found == entries.end()) fail_snapshot(path, fmt::format("there is no \"{}\"", name));
  const std::string& text = found->second;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) fail_snapshot(path, fmt::format("{} is \"{}\"", name, text));
  return value;
}

}  // namespace thor::io
