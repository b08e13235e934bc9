#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace thor::io {

/// Files of a snapshot in numerical order: a single file, or NAME.0.hdf5 ... NAME.N-1.hdf5, given by one of them or by
/// their directory. Anything unusual but harmless is added to `notes`.
std::vector<std::filesystem::path> snapshot_files(const std::filesystem::path& given, std::vector<std::string>& notes);

}  // namespace thor::io
