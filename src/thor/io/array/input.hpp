#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Reader of arrays in an HDF5 file, or in a zarr (version 2) directory with the same tree. Every failure is a
/// thor::Error(ExitCode::input) that names file, object and cause, except that running out of memory is
/// ExitCode::device.
namespace thor::io {

/// Properties of an array.
struct ArrayInfo {
  std::vector<std::uint64_t> shape;
  std::string type;      ///< "float32", "int64", ...
  bool numeric = false;  ///< integers or floating-point numbers, which can be read
};

/// Part of an array: its values in C order. Valid only during the call.
template <class T>
struct Block {
  std::vector<std::uint64_t> first, count;  ///< in each dimension
  std::span<const T> values;
};

/// Whether a box of an array is of interest, by its first index and its extent in each dimension.
using WantedBox = std::function<bool(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& count)>;

/// T is float, double, std::int64_t or std::uint64_t; values are converted from whatever the file holds: integers of 8
/// to 64 bits and floating-point numbers of 16 to 64 in either byte order, and whatever else HDF5 itself converts. As
/// in HDF5, a value outside the range of an integer type becomes the nearest possible one. Several threads may use one
/// Input.
class Input {
 public:
  explicit Input(const std::filesystem::path& path);
  ~Input();
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;

  const std::filesystem::path& path() const;
  bool has(const std::string& object) const;  ///< whether a group or an array exists
  std::vector<std::string> children(
      const std::string& group) const;  ///< sorted names; an error if the group does not exist
  ArrayInfo array(const std::string& path) const;

  /// An error if the array has holes (values that were never written) or is longer than its file.
  void require_whole(const std::string& path) const;
  bool is_written(const std::string& path) const;  ///< false: none of its values was

  bool has_attribute(const std::string& object, const std::string& name) const;  ///< of any type
  /// Attributes; empty if the attribute or the object is missing. A scalar is a list of one number.
  std::vector<double> numbers(const std::string& object, const std::string& name) const;
  std::optional<double> number(const std::string& object, const std::string& name) const;
  std::optional<std::string> text(const std::string& object, const std::string& name) const;

  /// Reads rows [first, first + count) of the first dimension into memory for exactly these values.
  template <class T>
  void read(const std::string& path, std::uint64_t first, std::uint64_t count, std::span<T> values) const;
  template <class T>
  std::vector<T> read_all(const std::string& path) const;

  /// Reads the whole array in blocks of some megabytes, which several threads pass to `take` concurrently and in any
  /// order; every value once. Each thread holds a block and, for a chunked array, one chunk. An exception thrown by
  /// `take` ends the reading and is rethrown here. Boxes that are not `wanted` are left out, and not read from disk.
  template <class T>
  void read_blocks(const std::string& path, int threads, const std::function<void(const Block<T>&)>& take,
                   const WantedBox& wanted = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thor::io
