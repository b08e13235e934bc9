#pragma once
#include <memory>
#include <variant>

#include "thor/io/array/output.hpp"

/// Implementation of io::ArrayOutput: one class per format. Included only by io/array/output_*.cpp.
namespace thor::io::detail {

using Value = std::variant<double, std::int64_t, bool, std::string, std::vector<double>>;

enum class Stored { float32, float64, int64, uint64 };

struct Array {
  std::span<const std::byte> bytes;
  Stored type;
  unsigned value_bytes;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> chunk;  ///< empty: small, stored in one piece
  std::string units, description;
  int level = 0;
};

class ArraySink {
 public:
  virtual ~ArraySink() = default;
  virtual void attribute(const std::string& object, const std::string& name, const Value& value) = 0;
  virtual void write(const std::string& path, const Array& array) = 0;
  virtual void commit(bool overwrite) = 0;
};

std::unique_ptr<ArraySink> new_hdf5(const std::filesystem::path& path, bool overwrite);
std::unique_ptr<ArraySink> new_zarr(const std::filesystem::path& path, bool overwrite);

}  // namespace thor::io::detail
