#include <algorithm>
#include <system_error>

#include "thor/io/array/contents.hpp"
#include "thor/io/array/input_zarr.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io {
namespace fs = std::filesystem;
using detail::fail_input, detail::Index, detail::zarr_json;
using nlohmann::json;

namespace {

constexpr std::size_t most_nodes = 100'000;

/// Whether it is a scalar of a kind that we know, or a list of numbers.
bool read_attribute(const json& value, Attribute& out) {
  if (value.is_boolean()) {
    out = value.get<bool>();
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(INT64_MAX)) {
    out = value.get<std::uint64_t>();
  } else if (value.is_number_integer()) {
    out = value.get<std::int64_t>();
  } else if (value.is_number()) {
    out = value.get<double>();
  } else if (value.is_string()) {
    out = value.get<std::string>();
  } else if (value.is_array() && value.size() > 1 &&
             std::ranges::all_of(value, [](const json& v) { return v.is_number(); })) {
    out = value.get<std::vector<double>>();
  } else {
    return false;
  }
  return true;
}

void visit(const fs::path& folder, const std::string& path, int depth, std::vector<Object>& objects) {
  const std::string name = "'" + folder.string() + "'";
  if (depth > 32 || objects.size() >= most_nodes) fail_input(name, "there are too many groups");
  Object& object = objects.emplace_back();
  object.path = path;
  object.is_dataset = detail::zarr::is_array(folder);
  std::error_code error;
  if (fs::exists(folder / ".zattrs", error)) {
    const json attributes = zarr_json(folder / ".zattrs");
    for (const auto& [key, value] : attributes.items()) {
      Attribute attribute;
      if (read_attribute(value, attribute)) object.attributes[key] = attribute;
    }
  }
  if (object.is_dataset) {
    const json meta = zarr_json(folder / ".zarray");
    object.shape = detail::zarr_extent(meta, "shape", name);
    object.type = detail::zarr_type(meta.value("dtype", json())).name;
    return;
  }
  std::vector<fs::path> below;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& at = entry->path();
    if (detail::zarr::is_group(at) || detail::zarr::is_array(at)) below.push_back(at);
  }
  if (error) fail_input(name, error.message());
  std::ranges::sort(below);
  for (const auto& at : below) {
    visit(at, (path == "/" ? "" : path) + "/" + at.filename().string(), depth + 1, objects);
  }
}

/// Every chunk of an array without compression.
void require_chunks(const fs::path& folder) {
  const std::string name = "'" + folder.string() + "'";
  const auto storage = detail::zarr_storage(folder, zarr_json(folder / ".zarray"), name, false);
  std::uint64_t bytes = storage->number.bytes;
  for (const auto n : storage->chunk) bytes *= n;
  if (std::ranges::count(storage->shape, 0u) > 0) return;
  const std::size_t rank = storage->shape.size();
  for (Index index(rank);;) {
    const std::string key = detail::zarr::chunk_key(index, '.');
    std::error_code error;
    const auto size = fs::file_size(folder / key, error);
    if (error) fail_input(name, "chunk " + key + " is missing: the directory is damaged (a copy that was cut short?)");
    if (storage->seekable && size != bytes) fail_input(name, "chunk " + key + " is truncated or damaged");
    std::size_t d = rank;
    while (d > 0 && ++index[d - 1] * storage->chunk[d - 1] >= storage->shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

std::vector<Object> detail::contents_of_zarr(const std::string& path) {
  std::vector<Object> objects;
  visit(path, "/", 0, objects);
  return objects;
}

void require_whole(const std::string& path, const std::vector<Object>& objects) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return;
  const json all = zarr_json(fs::path(path) / ".zmetadata").value("metadata", json());
  if (!all.is_object()) fail_input("'" + path + "'", "its .zmetadata lists nothing: the directory is damaged");
  for (const auto& [file, meta] : all.items()) {
    const bool there = fs::exists(fs::path(path) / file, error);
    if (there && zarr_json(fs::path(path) / file) == meta) continue;
    fail_input("'" + path + "'", file + (there ? " is not what .zmetadata has of it" : " is missing") +
                                     ": the directory is damaged (a copy that was cut short?)");
  }
  for (const Object& object : objects) {
    if (object.is_dataset) require_chunks(fs::path(path) / detail::relative(object.path));
  }
}

}  // namespace thor::io
