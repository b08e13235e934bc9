#pragma once
#include <cstddef>
#include <memory>

#include "thor/io/array/input.hpp"

/// What is behind io::Input: a format gives names, attributes and raw values; conversion and threads are the same for
/// all. Included by io/input*.cpp only.
namespace thor::io::detail {

using Index = std::vector<std::uint64_t>;
using Bytes = std::vector<std::byte>;

/// How a file stores a number.
struct Number {
  enum class Kind { signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  unsigned bytes = 4;
  bool swapped = false;  ///< of the other byte order than this machine
};

struct Memory {
  Bytes values;
  Bytes packed;  ///< for work in between
};

/// The values of one array: chunks of one shape on a regular grid, those at the upper edges padded.
class Storage {
 public:
  virtual ~Storage() = default;

  std::string name;  ///< file and array, for messages
  Number number;
  Index shape, chunk;     ///< of equal, non-zero length
  Bytes fill;             ///< one value as stored, for chunks that are missing
  bool seekable = false;  ///< part of a chunk can be had without the rest

  /// Called before several threads fetch.
  virtual void prepare() const {}
  /// Values [first, first + count) of a chunk in C order, as stored; false: the chunk was never written. From any
  /// thread, each with its own memory. Without `seekable` only whole chunks are asked for.
  virtual bool fetch(const Index& chunk_index, std::uint64_t first, std::uint64_t count, Memory& memory) const = 0;
};

/// A file or directory that is open.
class Source {
 public:
  virtual ~Source() = default;
  virtual bool has(const std::string& object) const = 0;
  virtual std::vector<std::string> children(const std::string& group) const = 0;
  virtual ArrayInfo array(const std::string& path) const = 0;
  virtual std::vector<double> numbers(const std::string& object, const std::string& name) const = 0;
  virtual std::optional<std::string> text(const std::string& object, const std::string& name) const = 0;
  virtual std::shared_ptr<const Storage> storage(const std::string& path) const = 0;
};

std::unique_ptr<Source> open_hdf5(const std::filesystem::path& path);
std::unique_ptr<Source> open_zarr(const std::filesystem::path& path);

[[noreturn]] void fail_input(const std::string& name, const std::string& why);

/// Of all dimensions; an error where it is beyond what memory can address.
std::uint64_t volume(const Index& extent, const std::string& name);

/// "a/b" from "/a/b/"; "" is the root.
std::string relative(const std::string& object);

/// The most of an extent, at most `limit` values, that lies together in C order: (1, ..., 1, k, all, ..., all).
Index slab_of(const Index& extent, std::uint64_t limit);

/// Reads from a position, whatever the number of calls it takes; an error where the file ends before.
void read_at(int descriptor, std::uint64_t position, std::span<std::byte> out, const std::string& name);

constexpr std::uint64_t block_bytes = 4 << 20;  ///< of what is handed over at a time

template <class T>
void read_rows(const Storage& storage, std::uint64_t first, std::uint64_t count, T* values);
template <class T>
void read_blocks(const Storage& storage, int threads, const std::function<void(const Block<T>&)>& take);

}  // namespace thor::io::detail
