#pragma once
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one way to write arrays, of any rank: an HDF5 file, or a zarr (version 2) directory where the name ends in
/// .zarr. The name is NAME.partial until commit(): a reader never sees half a result, and what is replaced stays until
/// the new one is whole. Every failure, a full disk included, is a thor::Error(ExitCode::output) that names the file,
/// the object and the cause. One thread at a time.
namespace thor::io {

namespace detail {
class OpenColumn;
}

/// What an array may hold; little-endian on disk whatever the machine.
template <class T>
concept Stored = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint64_t>;

/// An array that grows by rows, for what a run yields a batch at a time (photons).
///
/// A handle: copies append to the same array, and it must not be used after its file is finished or destroyed. Rows are
/// gathered in memory until a chunk of 65536 is full, so a small append is cheap, and an I/O error may come with a
/// later append or with ArrayOutput::finish.
template <Stored T>
class Column {
 public:
  Column() = default;

  /// Adds whole rows, row after row: the number of values is a multiple of the width.
  void append(std::span<const T> values);

  std::uint64_t rows() const;

 private:
  friend class ArrayOutput;
  explicit Column(std::shared_ptr<detail::OpenColumn> column) : column_(std::move(column)) {}
  std::shared_ptr<detail::OpenColumn> column_;
};

class ArrayOutput {
 public:
  /// Refuses a name that is taken (unless `overwrite`) and a directory that is missing or closed. `stoppable`: a signal
  /// ends the writing of arrays, since what is written is worth nothing unless it is whole.
  explicit ArrayOutput(const std::filesystem::path& path, bool overwrite = false, bool stoppable = true);

  /// For parts of arrays of a .zarr directory that another process has begun, and will commit or remove. It has begun
  /// the same arrays before this one does.
  static ArrayOutput join(const std::filesystem::path& path);

  /// Uncommitted, the partial file is removed.
  ~ArrayOutput();
  ArrayOutput(ArrayOutput&&) noexcept;
  ArrayOutput& operator=(ArrayOutput&&) noexcept;

  /// Sets an attribute, replacing an older one: bool, any integer or floating type (stored as int64, uint64 or double),
  /// text, or a list of doubles. `object` is "/", an array, a column, or a group, which is made if it is missing.
  template <class T>
  void attribute(const std::string& object, const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      set_bool(object, name, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      set_double(object, name, value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      set_signed(object, name, value);
    } else if constexpr (std::is_integral_v<T>) {
      set_unsigned(object, name, value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      set_text(object, name, value);
    } else {
      set_doubles(object, name, value);
    }
  }

  /// Arrays made after this call have a Fletcher-32 sum in every chunk of an HDF5 file, which its readers verify. The
  /// chunks of a .zarr directory have one only where they are deflated.
  void add_checksums();

  /// A whole array at once, in C order. Arrays of more than some megabytes are chunked. `level` is that of deflate
  /// (after a byte shuffle); 0 is none, which is read fastest. Units are those that astropy and pint parse: "erg s-1",
  /// "km s-1", "cm", or "" for a pure number.
  template <class T>
  void write(const std::string& path, std::span<const T> values, const std::vector<std::uint64_t>& shape,
             std::string_view units, std::string_view description, int level = 0);

  /// A new array for append(): it is written in parts of `rows` indices of the first dimension, the last of fewer.
  /// Chunks end with a part, so each is written once.
  template <Stored T>
  void begin(const std::string& path, const std::vector<std::uint64_t>& shape, std::uint64_t rows,
             std::string_view units, std::string_view description, int level = 0);
  /// The next part, whole and in C order.
  template <Stored T>
  void append(const std::string& path, std::span<const T> values);
  /// Leaves the next part, which another process writes: only in a .zarr directory, whose chunks are files.
  void skip(const std::string& path);

  /// One of one dimension.
  template <std::ranges::contiguous_range Values>
  requires Stored<std::ranges::range_value_t<Values>>
  void write(const std::string& path, const Values& values, std::string_view units, std::string_view description) {
    using T = std::ranges::range_value_t<Values>;
    write<T>(path, std::span<const T>(values), {std::ranges::size(values)}, units, description);
  }

  /// A new array of rows x width (of one dimension if the width is 1), at first of zero rows.
  template <Stored T>
  Column<T> column(const std::string& path, std::size_t width, std::string_view units, std::string_view description);

  /// Keeps room on the disk for so much of it, so that a long run does not find it full in the end; where there is not
  /// as much, an error says so now.
  void reserve(std::uint64_t bytes);

  /// Writes out what there is so far, which an HDF5 file then has at its beginning.
  void flush();

  /// Writes out all that is left to be written; nothing can be added after that. commit() does it too.
  void finish();

  /// Finishes and renames it. If the final name was taken meanwhile and `overwrite` is false, the partial file is kept
  /// and the error says so: a long run is not thrown away.
  void commit(bool overwrite = false);

  const std::filesystem::path& path() const;          ///< the final name
  const std::filesystem::path& partial_path() const;  ///< the name until then

 private:
  ArrayOutput();
  void set_bool(const std::string& object, const std::string& name, bool value);
  void set_double(const std::string& object, const std::string& name, double value);
  void set_signed(const std::string& object, const std::string& name, std::int64_t value);
  void set_unsigned(const std::string& object, const std::string& name, std::uint64_t value);
  void set_text(const std::string& object, const std::string& name, std::string_view value);
  void set_doubles(const std::string& object, const std::string& name, std::span<const double> values);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thor::io
