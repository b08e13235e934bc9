#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Helpers shared by reading and writing zarr (version 2). The format: zarr-specs.readthedocs.io, "Zarr storage
/// specification version 2".
namespace thor::io::detail::zarr {

/// Whether a directory is a group or an array.
bool is_group(const std::filesystem::path& path);
bool is_array(const std::filesystem::path& path);

/// Whether a path only leads down from the root: no "..", and no name that zarr reserves.
bool is_safe(const std::string& relative);

/// File name of a chunk, such as "1.0.2".
std::string chunk_key(const std::vector<std::uint64_t>& index, char separator);

}  // namespace thor::io::detail::zarr
