#pragma once
#include <filesystem>
#include <string>

/// Keeps --overwrite and the removal of leftovers away from files that thor did not write.
namespace thor::io::detail::zarr {

/// Mark of thor in the consolidated metadata of a store, beside "metadata".
inline constexpr const char* written_by = "written_by";

/// Why a directory may not be replaced and removed: it was not written by thor, or somebody has added a file to it.
/// Empty if it may. A store is judged by its list of contents, `.zmetadata`; what a killed run has left (`leftover`)
/// has no such list yet and is judged by the names of its files.
std::string why_kept(const std::filesystem::path& store, bool leftover);

}  // namespace thor::io::detail::zarr
