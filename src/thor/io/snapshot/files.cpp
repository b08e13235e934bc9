#include "thor/io/snapshot/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include "thor/io/array/input.hpp"
#include "thor/io/snapshot/error.hpp"

namespace thor::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_files = 1'000'000;

/// "snap_099.12.hdf5" is number 12 of "snap_099"; "snap_099.hdf5" has none.
struct Name {
  std::string stem, extension;
  std::optional<std::uint64_t> number;
};

Name split(const fs::path& path) {
  Name name{path.stem().string(), path.extension().string(), {}};
  const auto dot = name.stem.rfind('.');
  if (dot == std::string::npos || dot == 0) return name;
  const char *first = name.stem.data() + dot + 1, *last = name.stem.data() + name.stem.size();
  std::uint64_t number = 0;
  if (first == last || *first == '-') return name;
  if (const auto [end, error] = std::from_chars(first, last, number); error == std::errc() && end == last) {
    name.number = number;
    name.stem.resize(dot);
  }
  return name;
}

bool is_hdf5_name(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".hdf5" || extension == ".h5" || extension == ".hdf";
}

/// An unreadable directory is reported like an unreadable file.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> list;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    list.push_back(it->path());
  }
  if (error) fail_snapshot(folder, "the directory cannot be read: " + error.message());
  std::ranges::sort(list);
  return list;
}

using Numbered = std::map<std::uint64_t, fs::path>;

Numbered siblings(const fs::path& path, const Name& name) {
  Numbered found;
  for (const fs::path& entry : entries(path.has_parent_path() ? path.parent_path() : fs::path("."))) {
    const Name other = split(entry);
    if (other.number && other.stem == name.stem && other.extension == name.extension) {
      found.emplace(*other.number, path.has_parent_path() ? entry : entry.filename());
    }
  }
  return found;
}

std::optional<std::uint64_t> files_per_snapshot(const fs::path& path) {
  const Input input(path);
  for (const char* group : {"/Header", "/Parameters"}) {
    const auto numbers = input.numbers(group, "NumFilesPerSnapshot");
    if (numbers.size() != 1) continue;
    if (!(numbers[0] >= 0 && numbers[0] <= double(most_files))) {
      fail_snapshot(path, fmt::format("{}@NumFilesPerSnapshot is {:g}: not a number of files", group, numbers[0]));
    }
    if (numbers[0] >= 1) return static_cast<std::uint64_t>(numbers[0]);
  }
  return {};
}

/// The only file, or the only set of numbered files, in a directory.
fs::path choose(const fs::path& folder) {
  std::map<std::string, fs::path> sets;
  for (const fs::path& entry : entries(folder)) {
    if (!is_hdf5_name(entry)) continue;
    const Name name = split(entry);
    sets.emplace(name.stem + (name.number ? ".*" : "") + name.extension, entry);
  }
  if (sets.empty()) fail_snapshot(folder, "this directory has no snapshot: no file ends in .hdf5 or .h5");
  if (sets.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [name, first] : sets) names.push_back(name);
    const std::size_t shown = std::min<std::size_t>(names.size(), 8);
    fail_snapshot(
        folder,
        fmt::format("this directory has {} HDF5 files or sets of numbered ones ({}{}): name a file of the one you want",
                    names.size(), fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < names.size() ? ", ..." : ""));
  }
  return sets.begin()->second;
}

[[noreturn]] void fail_missing(const fs::path& path, const Name& name, std::uint64_t count, const Numbered& found) {
  std::vector<std::string> missing;
  std::uint64_t number_missing = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (found.contains(i)) continue;
    if (++number_missing <= 8) missing.push_back(fmt::format("{}.{}{}", name.stem, i, name.extension));
  }
  fail_snapshot(path, fmt::format("the snapshot has {} files, of which {} {} missing: {}{}", count, number_missing,
                                  number_missing == 1 ? "is" : "are", fmt::join(missing, ", "),
                                  number_missing > missing.size() ? ", ..." : ""));
}

}  // namespace

std::vector<fs::path> snapshot_files(const fs::path& given, std::vector<std::string>& notes) {
  std::error_code ignored;
  fs::path path = given;
  if (fs::is_directory(path, ignored) && !fs::exists(path / ".zgroup", ignored)) path = choose(path);
  if (!fs::exists(path, ignored)) {
    fs::path first = path;
    first.replace_extension(".0" + path.extension().string());
    fail_snapshot(path, fs::exists(first, ignored)
                            ? "there is no such file; the snapshot is split: name '" + first.string() + "'"
                            : "there is no such file");
  }

  const Name name = split(path);
  const auto said = files_per_snapshot(path);
  if (!name.number) {
    if (said.value_or(1) > 1) {
      notes.push_back(fmt::format(
          "NumFilesPerSnapshot is {}, but the file name has no number: read as a complete snapshot", *said));
    }
    return {path};
  }
  Numbered found = siblings(path, name);
  if (said == 1) {
    if (path != given && found.size() > 1) {
      fail_snapshot(given,
                    fmt::format("this directory has {} numbered files {}.*{}, each of which claims to be a whole "
                                "snapshot (NumFilesPerSnapshot is 1): name the one you want",
                                found.size(), name.stem, name.extension));
    }
    return {path};
  }
  const std::uint64_t count = said.value_or(found.rbegin()->first + 1);
  if (count > most_files) fail_snapshot(path, fmt::format("number {} of a snapshot's files is too high", count - 1));
  std::vector<fs::path> files;
  for (const auto& [number, file] : found) {
    if (number < count) files.push_back(file);
  }
  if (files.size() < count) fail_missing(path, name, count, found);
  if (!said) notes.push_back(fmt::format("no NumFilesPerSnapshot: {} numbered files were found", count));
  if (found.size() > count) {
    notes.push_back(
        fmt::format("NumFilesPerSnapshot is {}; {} file(s) with higher numbers ignored", count, found.size() - count));
  }
  return files;
}

}  // namespace thor::io
