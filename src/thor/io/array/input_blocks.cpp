#include <algorithm>

#include "thor/core/parallel_for.hpp"
#include "thor/io/array/input_convert.hpp"

/// Division of chunks into pieces that threads read and convert.
namespace thor::io::detail {

Index slab_of(const Index& extent, std::uint64_t limit) {
  Index slab(extent.size(), 1);
  std::uint64_t size = 1;
  for (std::size_t d = extent.size(); d-- > 0;) {
    slab[d] = std::clamp<std::uint64_t>(limit / size, 1, std::max<std::uint64_t>(extent[d], 1));
    if (slab[d] < extent[d]) break;
    size *= slab[d];
  }
  return slab;
}

namespace {

Index counts(const Index& extent, const Index& part) {
  Index out(extent.size());
  for (std::size_t d = 0; d < out.size(); ++d) out[d] = extent[d] / part[d] + (extent[d] % part[d] != 0);
  return out;
}

std::uint64_t product(const Index& extent) {
  std::uint64_t out = 1;
  for (const auto n : extent) out *= n;
  return out;
}

Index unravel(std::uint64_t i, const Index& extent) {
  Index out(extent.size());
  for (std::size_t d = extent.size(); d-- > 0; i /= extent[d]) out[d] = i % extent[d];
  return out;
}

std::uint64_t ravel(const Index& index, const Index& extent) {
  std::uint64_t out = 0;
  for (std::size_t d = 0; d < index.size(); ++d) out = out * extent[d] + index[d];
  return out;
}

/// Part of a chunk: a box of the array, and where its first value is in memory laid out as the chunk is.
struct Piece {
  Index first, count;
  const std::byte* bytes = nullptr;  ///< nullptr: the fill value
};

/// Whether a box in memory laid out as `extent` is contiguous.
bool is_dense(const Index& count, const Index& extent) {
  std::size_t d = 0;
  while (d < count.size() && count[d] == 1) ++d;
  return d == count.size() ||
         std::equal(count.begin() + std::ptrdiff_t(d) + 1, count.end(), extent.begin() + std::ptrdiff_t(d) + 1);
}

/// Copies a piece to where `out` has its first value and C order over `extent`.
template <class T>
void gather(const Storage& storage, const Piece& piece, T* out, const Index& extent) {
  const Index &count = piece.count, &chunk = storage.chunk;
  std::size_t tail = count.size() - 1;
  std::uint64_t run = count[tail];
  while (tail > 0 && count[tail] == extent[tail] && count[tail] == chunk[tail]) run *= count[--tail];
  T value{};
  if (!piece.bytes) convert(storage.number, storage.fill.data(), 1, &value);
  for (Index at(count.size());;) {
    if (piece.bytes) {
      convert(storage.number, piece.bytes + ravel(at, chunk) * storage.number.bytes, run, out + ravel(at, extent));
    } else {
      std::fill_n(out + ravel(at, extent), run, value);
    }
    std::size_t d = tail;
    while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

/// Values to read, divided into parts that threads take one by one.
class Plan {
 public:
  Plan(const Storage& storage, std::uint64_t first, std::uint64_t count, std::uint64_t value_bytes,
       const WantedBox& wanted = {})
      : storage_(storage), wanted_(wanted), first_(first), end_(first + count) {
    if (count == 0 || product(storage.shape) == 0) return;
    const Index& chunk = storage.chunk;
    begin_ = first / chunk[0];
    grid_ = counts(storage.shape, chunk);
    grid_[0] = (end_ - 1) / chunk[0] + 1 - begin_;
    extent_ = chunk;
    extent_[0] = std::min(chunk[0], count);
    slab_ = slab_of(extent_, block_bytes / std::max<std::uint64_t>(value_bytes, storage.number.bytes));
    slabs_ = counts(extent_, slab_);
    size_ = product(grid_) * (storage.seekable ? product(slabs_) : 1);
  }

  std::uint64_t size() const { return size_; }

  /// Reads the i-th part and passes on its pieces.
  template <class Take>
  void run(std::uint64_t i, ChunkBuffers& buffers, Take take) const {
    const std::uint64_t slabs = product(slabs_);
    Index index = unravel(storage_.seekable ? i / slabs : i, grid_);
    index[0] += begin_;
    // The rows of this chunk that are wanted.
    const std::uint64_t origin = index[0] * storage_.chunk[0];
    const std::uint64_t low = std::max(first_, origin) - origin;
    const std::uint64_t high = std::min(end_ - origin, storage_.chunk[0]);
    bool found = false;
    if (wanted_) {
      Index corner = index;
      for (std::size_t d = 0; d < corner.size(); ++d) corner[d] *= storage_.chunk[d];
      if (!wanted_(corner, storage_.chunk)) return;
    }
    if (!storage_.seekable) found = storage_.fetch(index, 0, product(storage_.chunk), buffers);
    for (std::uint64_t s = storage_.seekable ? i % slabs : 0, last = storage_.seekable ? s : slabs - 1; s <= last;
         ++s) {
      Index at = unravel(s, slabs_);
      Index extent = slab_;
      for (std::size_t d = 0; d < at.size(); ++d) at[d] *= slab_[d];
      at[0] += low;
      if (at[0] >= high) continue;
      extent[0] = std::min(extent[0], high - at[0]);
      for (std::size_t d = 1; d < at.size(); ++d) extent[d] = std::min(extent[d], storage_.chunk[d] - at[d]);
      const std::uint64_t from = ravel(at, storage_.chunk), size = product(extent);
      Piece piece{at, extent, nullptr};
      bool empty = false;
      for (std::size_t d = 0; d < at.size(); ++d) {
        piece.first[d] += index[d] * storage_.chunk[d];
        empty = empty || piece.first[d] >= storage_.shape[d];
        if (!empty) piece.count[d] = std::min(extent[d], storage_.shape[d] - piece.first[d]);
      }
      if (empty || (wanted_ && !wanted_(piece.first, piece.count))) continue;
      if (storage_.seekable) found = storage_.fetch(index, from, size, buffers);
      if (found) piece.bytes = buffers.values.data() + (storage_.seekable ? 0 : from * storage_.number.bytes);
      take(piece);
    }
  }

 private:
  const Storage& storage_;
  const WantedBox wanted_;
  std::uint64_t first_, end_, begin_ = 0, size_ = 0;
  Index grid_, extent_, slab_, slabs_;
};

}  // namespace

template <class T>
void read_rows(const Storage& storage, std::uint64_t first, std::uint64_t count, T* values) {
  const Plan plan(storage, first, count, sizeof(T));
  ChunkBuffers buffers;
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    plan.run(i, buffers, [&](const Piece& piece) {
      Index at = piece.first;
      at[0] -= first;
      gather(storage, piece, values + ravel(at, storage.shape), storage.shape);
    });
  }
}

template <class T>
void read_blocks(const Storage& storage, int threads, const std::function<void(const Block<T>&)>& take,
                 const WantedBox& wanted) {
  const Plan plan(storage, 0, storage.shape[0], sizeof(T), wanted);
  if (threads > 1 && plan.size() > 1) storage.prepare();
  const auto read = [&, buffers = ChunkBuffers{}, values = std::vector<T>{}](std::size_t i, std::size_t) mutable {
    plan.run(i, buffers, [&](const Piece& piece) {
      Block<T> block{piece.first, piece.count, {}};
      const std::uint64_t size = product(piece.count);
      if (piece.bytes && is_stored_as<T>(storage.number) && is_dense(piece.count, storage.chunk)) {
        block.values = {reinterpret_cast<const T*>(piece.bytes), size};
      } else {
        values.resize(size);
        gather(storage, piece, values.data(), piece.count);
        block.values = values;
      }
      take(block);
    });
  };
  parallel_for(threads, plan.size(), 1, read);
}

#define THOR_READ(T)                                                            \
  template void read_rows<T>(const Storage&, std::uint64_t, std::uint64_t, T*); \
  template void read_blocks<T>(const Storage&, int, const std::function<void(const Block<T>&)>&, const WantedBox&);
THOR_READ(float)
THOR_READ(double)
THOR_READ(std::int64_t)
THOR_READ(std::uint64_t)
#undef THOR_READ

}  // namespace thor::io::detail
