#include "thor/io/zarr/foreign.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace thor::io::detail::zarr {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool is_chunk(const std::string& name) {
  return std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

/// The files of metadata; null if thor did not write the store.
json listed_in(const fs::path& store) {
  std::ifstream file(store / ".zmetadata");
  const json all = json::parse(file, nullptr, false);
  if (!all.is_object() || all.value(written_by, json()) != "thor") return {};
  return all.value("metadata", json());
}

}  // namespace

std::string why_kept(const fs::path& store, bool leftover) {
  const json listed = leftover ? json::object() : listed_in(store);
  if (!listed.is_object()) return "thor did not write this directory, or it is damaged";
  const auto is_ours = [&](const fs::path& file) {
    const std::string name = file.filename();
    const bool chunk = is_chunk(name);
    if (file == ".zmetadata" || file == ".reserved") return true;
    if (leftover) return chunk || name == ".zgroup" || name == ".zarray" || name == ".zattrs";
    return listed.contains((chunk ? file.parent_path() / ".zarray" : file).string());
  };
  std::error_code error;
  for (fs::recursive_directory_iterator entry(store, error), end; !error && entry != end; entry.increment(error)) {
    const fs::file_type type = entry->symlink_status(error).type();
    if (type == fs::file_type::directory) continue;
    if (type == fs::file_type::regular && is_ours(entry->path().lexically_relative(store))) continue;
    return "thor did not write '" + entry->path().string() + "'";
  }
  return error ? error.message() : "";
}

}  // namespace thor::io::detail::zarr
