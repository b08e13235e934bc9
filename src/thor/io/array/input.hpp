#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Reading arrays that others wrote: an HDF5 file, or a zarr (version 2) directory with the same tree. Every failure is
/// a thor::Error(ExitCode::input) that names file, object and cause; only where memory runs out it is ExitCode::device.
namespace thor::io {

/// What an array is.
struct ArrayInfo {
  std::vector<std::uint64_t> shape;
  std::string type;      ///< "float32", "int64", ...
  bool numeric = false;  ///< integers or floating-point numbers: what can be read
};

/// A part of an array: its values in C order. Lives as long as the call.
template <class T>
struct Block {
  std::vector<std::uint64_t> first, count;  ///< of each dimension
  std::span<const T> values;
};

/// T is float, double, std::int64_t or std::uint64_t; values are converted from whatever the file holds: integers of 8
/// to 64 bits and floating-point numbers of 16 to 64 in either byte order, and what else HDF5 itself converts. As
/// there, an integer that a value does not fit in is the nearest that there is. Several threads may use one Input.
class Input {
 public:
  explicit Input(const std::filesystem::path& path);
  ~Input();
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;

  const std::filesystem::path& path() const;
  bool has(const std::string& object) const;                          ///< a group or an array
  std::vector<std::string> children(const std::string& group) const;  ///< names, sorted; an error where there is none
  ArrayInfo array(const std::string& path) const;

  /// Attributes; missing ones (and missing objects) are empty. A scalar is a list of one number.
  std::vector<double> numbers(const std::string& object, const std::string& name) const;
  std::optional<double> number(const std::string& object, const std::string& name) const;
  std::optional<std::string> text(const std::string& object, const std::string& name) const;

  /// Rows [first, first + count) of the first dimension, into memory for exactly these values.
  template <class T>
  void read(const std::string& path, std::uint64_t first, std::uint64_t count, std::span<T> values) const;
  template <class T>
  std::vector<T> read_all(const std::string& path) const;

  /// The whole array in blocks of some megabytes, read and handed over by several threads at once, in any order; every
  /// value once. Each thread holds a block and, of an array in chunks, one chunk. An exception that `take` throws ends
  /// it and is thrown here.
  template <class T>
  void read_blocks(const std::string& path, int threads, const std::function<void(const Block<T>&)>& take) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thor::io
