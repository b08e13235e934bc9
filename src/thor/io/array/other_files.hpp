#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "thor/io/hdf5/id.hpp"

/// Files in which an HDF5 file keeps values: external files, sources of virtual datasets, targets of external links.
namespace thor::io::detail {

/// Part of a dataset that is in a file of its own.
struct External {
  std::filesystem::path path;  ///< empty: it cannot be read
  std::uint64_t offset = 0, bytes = 0;
};
External external_file(hid_t dataset, hid_t properties, unsigned i);

/// The names of a file and of an array in it.
std::pair<std::string, std::string> virtual_source(hid_t properties, std::size_t i);
/// Opens the file where HDF5 would find it; negative: it does not.
Id open_source(hid_t dataset, const std::string& name);

struct OtherFile {
  std::filesystem::path path;
  std::vector<haddr_t> arrays;  ///< that are reached through links or virtual datasets, by their addresses in it
};

/// All of them that exist, in an order that does not depend on where they lie; none of a file that is not HDF5.
std::vector<OtherFile> other_files(const std::string& path);

}  // namespace thor::io::detail
