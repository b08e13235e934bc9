#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// What reading and writing zarr (version 2) share. The format: zarr-specs.readthedocs.io, "Zarr storage specification
/// version 2".
namespace thor::io::detail::zarr {

/// Whether a directory is a group or an array.
bool is_group(const std::filesystem::path& path);
bool is_array(const std::filesystem::path& path);

/// Whether a path of names leads down from the root and nowhere else: no "..", and no name that zarr uses itself.
bool is_safe(const std::string& relative);

/// "1.0.2", the file of a chunk.
std::string chunk_key(const std::vector<std::uint64_t>& index, char separator);

}  // namespace thor::io::detail::zarr
