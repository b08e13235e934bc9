#pragma once
#include <memory>
#include <variant>

#include "thor/io/array/output.hpp"

/// Implementation of io::ArrayOutput: one class per format. Included only by io/array/output*.cpp.
namespace thor::io::detail {

using Value = std::variant<double, std::int64_t, std::uint64_t, bool, std::string, std::vector<double>>;

enum class Type { float32, float64, int64, uint64 };

struct Array {
  Type type;
  unsigned value_bytes;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> chunk;  ///< empty: small, stored in one piece
  std::string units, description;
  int level = 0;

  std::uint64_t row_bytes() const {  ///< of one index of the first dimension
    std::uint64_t bytes = value_bytes;
    for (std::size_t d = 1; d < shape.size(); ++d) bytes *= shape[d];
    return bytes;
  }
};

constexpr std::uint64_t chunk_rows = 65536;  ///< of a column

/// An array that grows by rows. They are gathered in memory until a chunk is full; the array itself is made then, or at
/// the end, when a short column can have a chunk of its own size.
class OpenColumn {
 public:
  OpenColumn(std::string path, Type type, unsigned value_bytes, std::size_t width)
      : path(std::move(path)), type(type), value_bytes(value_bytes), width(width) {}
  virtual ~OpenColumn() = default;

  const std::string path;
  const Type type;
  const unsigned value_bytes;
  const std::size_t width;
  bool closed = false;  ///< nothing can be added any more

  std::uint64_t rows() const { return rows_on_disk_ + buffer_.size() / row_bytes(); }
  std::uint64_t chunk() const { return chunk_; }  ///< rows of a chunk; 0 while that is not known
  std::size_t row_bytes() const { return width * value_bytes; }
  void append(std::span<const std::byte> bytes);
  void finish();  ///< writes what is left

 protected:
  /// Whole rows from row `first` on, at most a chunk of them and from the start of one; the first time first = 0.
  virtual void put(std::uint64_t first, std::span<const std::byte> rows) = 0;

 private:
  void flush();

  std::vector<std::byte> buffer_;
  std::uint64_t rows_on_disk_ = 0, chunk_ = 0;
};

class ArraySink {
 public:
  virtual ~ArraySink() = default;
  virtual void attribute(const std::string& object, const std::string& name, const Value& value) = 0;
  virtual void create(const std::string& path, const Array& array) = 0;
  /// Whole rows of an array that was created, from row `first` on. They begin and end with a chunk.
  virtual void put(const std::string& path, const Array& array, std::uint64_t first,
                   std::span<const std::byte> rows) = 0;
  virtual std::shared_ptr<OpenColumn> column(const std::string& path, Type type, unsigned value_bytes,
                                             std::size_t width, const std::string& units,
                                             const std::string& description) = 0;
  virtual void add_checksums() = 0;
  virtual void reserve(std::uint64_t bytes) = 0;
  virtual void flush() {}
  virtual void finish() = 0;
  virtual void commit(bool overwrite) = 0;
  virtual const std::filesystem::path& path() const = 0;
  virtual const std::filesystem::path& partial_path() const = 0;
};

std::unique_ptr<ArraySink> new_hdf5(const std::filesystem::path& path, bool overwrite);
std::unique_ptr<ArraySink> new_zarr(const std::filesystem::path& path, bool overwrite);
std::unique_ptr<ArraySink> join_zarr(const std::filesystem::path& path);

}  // namespace thor::io::detail
