#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// What an HDF5 file or a zarr directory holds, whoever wrote it. Every failure is a thor::Error(ExitCode::input) that
/// names the file.
namespace thor::io {

using Attribute = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>>;

/// A group or a dataset.
struct Object {
  std::string path;  ///< "/" for the root
  bool is_dataset = false;
  std::vector<std::uint64_t> shape;             ///< for a dataset
  std::string type;                             ///< for a dataset: "float64", "int64", ...
  std::map<std::string, Attribute> attributes;  ///< scalars and short lists of numbers; others are omitted
};

/// All groups and datasets, a group before its members.
std::vector<Object> contents(const std::string& path);

/// Of what thor has written: every chunk of a zarr directory is there, and as long as it should be. (A truncated HDF5
/// file cannot be opened at all; in zarr a missing chunk may be meant, so nobody else would complain.)
void require_whole(const std::string& path, const std::vector<Object>& objects);

namespace detail {
std::vector<Object> contents_of_hdf5(const std::string& path);
std::vector<Object> contents_of_zarr(const std::string& path);
}  // namespace detail

}  // namespace thor::io
