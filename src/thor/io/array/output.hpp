#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Writing arrays of several dimensions: an HDF5 file, or a zarr (version 2) directory where the name ends in .zarr. As
/// with io::File the name is NAME.partial until commit(); uncommitted, it is removed. Failures are
/// thor::Error(ExitCode::output). One thread at a time.
namespace thor::io {

class ArrayOutput {
 public:
  explicit ArrayOutput(const std::filesystem::path& path, bool overwrite = false);
  ~ArrayOutput();
  ArrayOutput(ArrayOutput&&) noexcept;
  ArrayOutput& operator=(ArrayOutput&&) noexcept;

  /// `object` is "/", a group (made if it is missing) or an array.
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  void attribute(const std::string& object, const std::string& name, bool value);
  void attribute(const std::string& object, const std::string& name, std::string_view value);
  void attribute(const std::string& object, const std::string& name, std::span<const double> values);

  /// A whole array at once, in C order; T is float, double, std::int64_t or std::uint64_t. Arrays of more than some
  /// megabytes are chunked. `level` is that of deflate (after a byte shuffle); 0 is none, which is read fastest.
  template <class T>
  void write(const std::string& path, std::span<const T> values, const std::vector<std::uint64_t>& shape,
             std::string_view units, std::string_view description, int level = 0);

  void commit(bool overwrite = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thor::io
