#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// Contents of any HDF5 file. Every failure is a thor::Error(ExitCode::input) that names the file.
namespace thor::io {

using Attribute = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// A group or a dataset.
struct Object {
  std::string path;  ///< "/" for the root
  bool is_dataset = false;
  std::vector<std::uint64_t> shape;             ///< for a dataset
  std::string type;                             ///< for a dataset: "float64", "int64", ...
  std::map<std::string, Attribute> attributes;  ///< scalars; others are omitted
};

/// All groups and datasets, a group before its members.
std::vector<Object> contents(const std::string& path);

}  // namespace thor::io
