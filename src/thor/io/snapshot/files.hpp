#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace thor::io {

/// The files of a snapshot, in the order of their numbers: a file alone, or NAME.0.hdf5 ... NAME.N-1.hdf5 of which one,
/// or the directory they are in, is given. What is odd but no obstacle goes to `notes`.
std::vector<std::filesystem::path> snapshot_files(const std::filesystem::path& given, std::vector<std::string>& notes);

}  // namespace thor::io
