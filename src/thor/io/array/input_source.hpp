#pragma once
#include <cstddef>
#include <memory>

#include "thor/io/array/input.hpp"

/// Implementation of io::Input: a format provides names, attributes and raw values; conversion and threading are common
/// to all. Included only by io/array/input*.cpp.
namespace thor::io::detail {

using Index = std::vector<std::uint64_t>;
using Bytes = std::vector<std::byte>;

/// Storage format of a number in a file.
struct Number {
  enum class Kind { signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  unsigned bytes = 4;
  bool swapped = false;  ///< byte order opposite to this machine's
};

/// Memory that a thread uses again for every chunk.
struct ChunkBuffers {
  Bytes values;
  Bytes packed;  ///< as stored, before decompression
};

/// Values of one array: chunks of one shape on a regular grid, padded at the upper edges.
class Storage {
 public:
  virtual ~Storage() = default;

  std::string name;  ///< file and array, for messages
  Number number;
  Index shape, chunk;     ///< of equal, non-zero length
  Bytes fill;             ///< one value as stored, for missing chunks
  bool seekable = false;  ///< part of a chunk can be read without the rest

  /// Called before several threads fetch.
  virtual void prepare() const {}
  /// Fetches values [first, first + count) of a chunk in C order, as stored; false: the chunk was never written. May be
  /// called from any thread, each with its own buffers. Without `seekable` only whole chunks are requested.
  virtual bool fetch(const Index& chunk_index, std::uint64_t first, std::uint64_t count,
                     ChunkBuffers& buffers) const = 0;
};

/// An open file or directory.
class InputSource {
 public:
  virtual ~InputSource() = default;
  virtual bool has(const std::string& object) const = 0;
  virtual std::vector<std::string> children(const std::string& group) const = 0;
  virtual ArrayInfo array(const std::string& path) const = 0;
  virtual bool is_written(const std::string& path) const = 0;
  virtual bool has_attribute(const std::string& object, const std::string& name) const = 0;
  virtual std::vector<double> numbers(const std::string& object, const std::string& name) const = 0;
  virtual std::optional<std::string> text(const std::string& object, const std::string& name) const = 0;
  virtual std::shared_ptr<const Storage> storage(const std::string& path) const = 0;
};

std::unique_ptr<InputSource> open_hdf5(const std::filesystem::path& path);
std::unique_ptr<InputSource> open_zarr(const std::filesystem::path& path);

[[noreturn]] void fail_input(const std::string& name, const std::string& why);

/// Product of all dimensions; an error if it exceeds the address space.
std::uint64_t volume(const Index& extent, const std::string& name);

/// "a/b" from "/a/b/"; "" is the root.
std::string relative(const std::string& object);

/// Largest contiguous part of an extent in C order, of at most `limit` values: (1, ..., 1, k, all, ..., all).
Index slab_of(const Index& extent, std::uint64_t limit);

/// Reads from a position, in as many calls as necessary; an error if the file ends first.
void read_at(int descriptor, std::uint64_t position, std::span<std::byte> out, const std::string& name);

constexpr std::uint64_t block_bytes = 4 << 20;  ///< passed on at a time

template <class T>
void read_rows(const Storage& storage, std::uint64_t first, std::uint64_t count, T* values);
template <class T>
void read_blocks(const Storage& storage, int threads, const std::function<void(const Block<T>&)>& take,
                 const WantedBox& wanted);

}  // namespace thor::io::detail
