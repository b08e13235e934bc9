#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// What an HDF5 file holds, whoever wrote it. Every failure is a thor::Error(ExitCode::input) that names the file.
namespace thor::io {

using Attribute = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// A group or a dataset.
struct Object {
  std::string path;  ///< "/" for the root
  bool is_dataset = false;
  std::vector<std::uint64_t> shape;             ///< of a dataset
  std::string type;                             ///< of a dataset: "float64", "int64", ...
  std::map<std::string, Attribute> attributes;  ///< scalars; others are left out
};

/// All of them, a group before what is in it.
std::vector<Object> contents(const std::string& path);

}  // namespace thor::io
