#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Writing HDF5 files. No other file of thor includes hdf5.h. Every failure, a full disk included,
/// is a thor::Error(ExitCode::output) that names the file, the object and the cause.
namespace thor::io {

namespace detail {
struct OpenFile;
struct OpenColumn;
}  // namespace detail

/// What a dataset may hold; little-endian on disk whatever the machine.
template <class T>
concept Stored = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint64_t>;

/// A dataset that grows by rows, for what a run yields a batch at a time (photons).
///
/// A handle: copies append to the same dataset, and it must not be used after its file is committed
/// or destroyed. Rows are gathered in memory until a chunk of 65536 is full, so a small append is
/// cheap, and an I/O error may come with a later append or with File::commit.
template <Stored T>
class Column {
 public:
  Column() = default;

  /// Adds whole rows, row after row: the number of values is a multiple of the width.
  void append(std::span<const T> values);

  std::uint64_t rows() const;

 private:
  friend class File;
  explicit Column(std::shared_ptr<detail::OpenColumn> column) : column_(std::move(column)) {}
  std::shared_ptr<detail::OpenColumn> column_;
};

/// A new HDF5 file, written as `NAME.partial` and given its name only when it is whole: a reader
/// never sees half a result, and a file that is replaced stays until the new one is ready.
/// One thread at a time.
class File {
 public:
  /// Refuses a name that is taken (unless `overwrite`) and a directory that is missing or closed.
  explicit File(const std::filesystem::path& path, bool overwrite = false);

  /// Uncommitted: the partial file is removed.
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  /// Sets an attribute, replacing an older one: bool (as h5py writes it), any integer or floating
  /// type (stored as int64, uint64 or double), or text (fixed-length UTF-8). `object` is "/", a
  /// dataset, a column, or a group, which is created if it is missing.
  template <class T>
  void attribute(const std::string& object, const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      set_bool(object, name, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      set_number<double>(object, name, value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      set_number<std::int64_t>(object, name, value);
    } else if constexpr (std::is_integral_v<T>) {
      set_number<std::uint64_t>(object, name, value);
    } else {
      set_text(object, name, value);
    }
  }

  /// Writes a one-dimensional dataset from a vector, array or span of a stored type, creating the
  /// groups above it. Units are those astropy and pint parse: "erg s-1", "km s-1", "cm", or "" for
  /// a pure number.
  template <std::ranges::contiguous_range Values>
  requires Stored<std::ranges::range_value_t<Values>>
  void write(const std::string& path, const Values& values, std::string_view units, std::string_view description) {
    using T = std::ranges::range_value_t<Values>;
    write_values<T>(path, std::span<const T>(values), units, description);
  }

  /// A new dataset of rows x width (rank 1 if the width is 1), at first of zero rows.
  template <Stored T>
  Column<T> column(const std::string& path, std::size_t width, std::string_view units, std::string_view description);

  /// Keeps room on the disk for so much of it, so that a long run does not find it full in the end; where there is not
  /// as much, an error says so now.
  void reserve(std::uint64_t bytes);

  /// Writes out all that is left to be written; nothing can be added after that. commit() does it too.
  void finish();

  /// Finishes and renames the file. If the final name was taken meanwhile and `overwrite` is
  /// false, the partial file is kept and the error says so: a long run is not thrown away.
  void commit(bool overwrite = false);

  const std::filesystem::path& path() const;          ///< the final name
  const std::filesystem::path& partial_path() const;  ///< the name until then

 private:
  void set_text(const std::string& object, const std::string& name, std::string_view value);
  void set_bool(const std::string& object, const std::string& name, bool value);
  template <Stored T>
  void set_number(const std::string& object, const std::string& name, T value);
  template <Stored T>
  void write_values(const std::string& path, std::span<const T> values, std::string_view units,
                    std::string_view description);
  std::unique_ptr<detail::OpenFile> file_;
};

/// The HDF5 library in use, such as "1.10.8".
std::string version();

}  // namespace thor::io
