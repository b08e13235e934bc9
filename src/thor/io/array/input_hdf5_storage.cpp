#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <utility>

#include "thor/io/array/input_hdf5.hpp"
#include "thor/io/hdf5/header.hpp"
#include "thor/io/zarr/codec.hpp"

namespace thor::io::detail {
namespace {

constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 32;  ///< HDF5's own limit, in bytes

/// HDF5 1.10 finds the n-th chunk by walking through all previous ones, at up to 0.15 us each: with this many bytes per
/// chunk for each existing chunk, that takes a tenth of the time to read them at 1 GB/s.
constexpr std::uint64_t worth_lookup = 1500;

/// Says which filter of a dataset HDF5 does not have here; "" if it has all.
std::string missing_filter(hid_t dataset) {
  const Id properties(H5Dget_create_plist(dataset), H5Pclose);
  for (int i = 0, count = H5Pget_nfilters(properties); i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> text{};
    const H5Z_filter_t id =
        H5Pget_filter2(properties, unsigned(i), &flags, &values, nullptr, text.size() - 1, text.data(), nullptr);
    if (id < 0 || H5Zfilter_avail(id) > 0) continue;
    return "it is compressed by filter " + std::to_string(id) +
           (text[0] != 0 ? " (" + std::string(text.data()) + ")" : "") +
           ", which HDF5 does not have here; install its plugin (HDF5_PLUGIN_PATH), or write the file with gzip "
           "(`h5repack -f GZIP=4` where it can be read)";
  }
  return "";
}

/// Reads with H5Dread, for any other kind of storage; one thread at a time.
class Library final : public Storage {
 public:
  Library(Id dataset, hid_t type) : dataset_(std::move(dataset)) {
    if (H5Tget_class(type) == H5T_FLOAT) {
      number = {Number::Kind::floating, H5Tget_size(type) <= 4 ? 4u : 8u, false};
      memory_ = number.bytes == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    } else {
      const bool plus = H5Tget_sign(type) == H5T_SGN_NONE;
      number = {plus ? Number::Kind::unsigned_integer : Number::Kind::signed_integer, 8, false};
      memory_ = plus ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
    }
  }

  bool fetch(const Index& index, std::uint64_t, std::uint64_t count, ChunkBuffers& buffers) const override {
    Bytes& out = buffers.values;
    out.resize(count * number.bytes);
    const auto lock = enter_hdf5(name, 2 * out.size());
    const Id file(H5Dget_space(dataset_), H5Sclose);
    const bool scalar = H5Sget_simple_extent_ndims(file) == 0;
    std::vector<hsize_t> first(shape.size()), size(shape.size()), zero(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      first[d] = index[d] * chunk[d];
      size[d] = std::min<hsize_t>(chunk[d], shape[d] - first[d]);
    }
    const std::vector<hsize_t> extent(chunk.begin(), chunk.end());
    const Id memory(H5Screate_simple(int(shape.size()), extent.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, zero.data(), nullptr, size.data(), nullptr);
    if (!scalar) H5Sselect_hyperslab(file, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr);
    if (H5Dread(dataset_, memory_, memory, file, H5P_DEFAULT, out.data()) < 0) {
      const std::string why = innermost_error(), filter = missing_filter(dataset_);
      fail_input(name, filter.empty() ? why : filter);
    }
    return true;
  }

 private:
  Id dataset_;
  hid_t memory_;
};

std::uint64_t bytes_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? std::uint64_t(status.st_size) : 0;
}

/// Contiguous values in the file: the whole array is one chunk.
class Contiguous final : public Storage {
 public:
  Contiguous(Id dataset, int descriptor) : dataset_(std::move(dataset)), descriptor_(descriptor) {
    offset_ = H5Dget_offset(dataset_);
  }

  bool fetch(const Index&, std::uint64_t first, std::uint64_t count, ChunkBuffers& buffers) const override {
    buffers.values.resize(count * number.bytes);
    read_at(descriptor_, offset_ + first * number.bytes, buffers.values, name);
    return true;
  }

 private:
  Id dataset_;      ///< keeps the file open
  int descriptor_;  ///< HDF5's own
  haddr_t offset_;
};

struct Filter {
  H5Z_filter_t id = 0;
  std::size_t value_bytes = 0;  ///< for a shuffle
};

/// Raw chunks of the file; HDF5 is needed only to locate them.
class Hdf5Chunks final : public Storage {
 public:
  Hdf5Chunks(Id dataset, int descriptor, std::vector<Filter> filters)
      : dataset_(std::move(dataset)), descriptor_(descriptor), filters_(std::move(filters)) {
    file_bytes_ = bytes_of(descriptor);
  }

  void prepare() const override {
    std::call_once(once_, [this] { looked_up_ = look_up(); });
  }

  bool fetch(const Index& index, std::uint64_t, std::uint64_t count, ChunkBuffers& buffers) const override {
    Bytes &packed = buffers.packed, &out = buffers.values;
    const std::uint64_t whole = count * number.bytes;
    unsigned skipped = 0;
    if (!looked_up_) {
      read_packed(index, whole, packed, skipped);
    } else if (const auto stored = stored_.find(index); stored != stored_.end()) {
      check_size(stored->second.size, whole);
      packed.resize(stored->second.size);
      read_at(descriptor_, stored->second.address, packed, name);
      skipped = stored->second.skipped;
    } else {
      damaged(index);
    }
    for (std::size_t i = filters_.size(); i-- > 0;) {
      if (skipped >> i & 1) continue;
      if (filters_[i].id == H5Z_FILTER_FLETCHER32) {
        if (!take_checksum(packed)) damaged(index);
        continue;
      }
      if (filters_[i].id == H5Z_FILTER_DEFLATE) {
        if (!can_inflate_to(packed.size(), whole)) damaged(index);
        out.resize(whole);
        if (!inflate(packed, out)) damaged(index);
      } else {
        out.resize(packed.size());
        unshuffle(packed, filters_[i].value_bytes, out);
      }
      packed.swap(out);
    }
    if (packed.size() != whole) damaged(index);
    out.swap(packed);
    return true;
  }

 private:
  struct StoredChunk {
    haddr_t address = 0;
    hsize_t size = 0;
    unsigned skipped = 0;  ///< a bit for each filter that was not applied
  };

  bool look_up() const {
    const auto lock = enter_hdf5(name);
    const Id space(H5Dget_space(dataset_), H5Sclose);
    hsize_t chunks = 0;
    std::uint64_t bytes = number.bytes;
    for (const auto n : chunk) bytes *= n;
    if (H5Dget_num_chunks(dataset_, space, &chunks) < 0 || chunks > bytes / worth_lookup) return false;
    Index index(shape.size());
    std::vector<hsize_t> offset(shape.size());
    for (hsize_t i = 0; i < chunks; ++i) {
      StoredChunk stored;
      if (H5Dget_chunk_info(dataset_, space, i, offset.data(), &stored.skipped, &stored.address, &stored.size) < 0) {
        fail_input(name, innermost_error());
      }
      for (std::size_t d = 0; d < index.size(); ++d) index[d] = offset[d] / chunk[d];
      stored_[index] = stored;
    }
    return true;
  }

  [[noreturn]] void damaged(const Index& index) const {
    std::string text;
    for (const auto i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
    fail_input(name, "chunk (" + text + ") is damaged");
  }

  /// Before memory is taken for a chunk. Deflate makes incompressible data slightly longer.
  void check_size(std::uint64_t size, std::uint64_t whole) const {
    if (size > 2 * whole + 1024) fail_input(name, "a chunk is longer than its values");
    if (size > file_bytes_) fail_input(name, "a chunk is longer than the file: it is damaged");
  }

  void read_packed(const Index& index, std::uint64_t whole, Bytes& packed, unsigned& skipped) const {
    const auto lock = enter_hdf5(name);
    std::vector<hsize_t> offset(index.size());
    for (std::size_t d = 0; d < index.size(); ++d) offset[d] = index[d] * chunk[d];
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(dataset_, offset.data(), &size) < 0) {
      const std::string why = innermost_error();
      if (why.find("not allocated") == std::string::npos) fail_input(name, why);  // HDF5 1.10 treats this as an error
    }
    if (size == 0) damaged(index);
    check_size(size, whole);
    packed.resize(size);
    if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &skipped, packed.data()) < 0) {
      fail_input(name, innermost_error());
    }
  }

  Id dataset_;
  int descriptor_;
  std::uint64_t file_bytes_ = 0;
  std::vector<Filter> filters_;
  mutable std::once_flag once_;
  mutable std::atomic<bool> looked_up_{false};
  mutable std::map<Index, StoredChunk> stored_;
};

/// std::nullopt if there are other filters.
std::optional<std::vector<Filter>> known_filters(hid_t properties) {
  std::vector<Filter> filters;
  unsigned options = 0;
  bool deflated = false;
  if (H5Pget_chunk_opts(properties, &options) < 0 || options != 0)
    return std::nullopt;  // chunks at the edges are not filtered
  for (int i = 0, count = H5Pget_nfilters(properties); i < count; ++i) {
    unsigned flags = 0, values[8] = {};
    std::size_t size = 8;
    const H5Z_filter_t id = H5Pget_filter2(properties, unsigned(i), &flags, &size, values, 0, nullptr, nullptr);
    if (id == H5Z_FILTER_SHUFFLE && size > 0 && values[0] > 0) {
      filters.push_back({id, values[0]});
    } else if (id == H5Z_FILTER_FLETCHER32 ||
               // Twice: the intermediate length is unknown.
               (id == H5Z_FILTER_DEFLATE && !std::exchange(deflated, true))) {
      filters.push_back({id, 0});
    } else {
      return std::nullopt;
    }
  }
  return filters;
}

/// Descriptor of the file that contains a dataset (possibly reached through a link), if its addresses are relative to
/// the beginning of the file; otherwise -1.
int descriptor_of(hid_t dataset) {
  const Id file(H5Iget_file_id(dataset), H5Fclose);
  const Id properties(H5Fget_create_plist(file), H5Pclose), access(H5Fget_access_plist(file), H5Pclose);
  hsize_t user_block = 0;
  int* descriptor = nullptr;
  const bool plain = H5Pget_driver(access) == H5FD_SEC2 && H5Pget_userblock(properties, &user_block) >= 0 &&
                     user_block == 0 &&
                     H5Fget_vfd_handle(file, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)) >= 0;
  return plain && descriptor ? *descriptor : -1;
}

}  // namespace

std::optional<Number> plain_number(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const bool swapped = H5Tget_order(type) == (std::endian::native == std::endian::little ? H5T_ORDER_BE : H5T_ORDER_LE);
  if (H5Tget_class(type) == H5T_FLOAT) {
    for (const hid_t known : {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE}) {
      if (H5Tequal(type, known) > 0) return Number{Number::Kind::floating, unsigned(bytes), swapped};
    }
    return std::nullopt;
  }
  if (!std::has_single_bit(bytes) || bytes > 8 || H5Tget_precision(type) != 8 * bytes) return std::nullopt;
  const bool plus = H5Tget_sign(type) == H5T_SGN_NONE;
  return Number{plus ? Number::Kind::unsigned_integer : Number::Kind::signed_integer, unsigned(bytes), swapped};
}

namespace {

/// Whether numbers of this type have a plausible length. HDF5 does not compare it with the length of the chunk or
/// header that holds them, and reads beyond their end if the type is damaged.
bool is_plausible(hid_t type) {
  const std::size_t bytes = H5Tget_size(type), bits = H5Tget_precision(type);
  return bytes <= 16 && bits <= 8 * bytes && bits > 4 * bytes && is_sound_number(type);
}

/// How the values of a dataset lie in its file.
struct DatasetLayout {
  H5D_layout_t kind;
  Index shape, chunk;
};
DatasetLayout layout_of(hid_t dataset, hid_t properties) {
  const Id space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> extent(std::size_t(std::max(H5Sget_simple_extent_ndims(space), 0)));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  Index shape(extent.begin(), extent.end()), chunk = shape;
  if (shape.empty()) shape = chunk = {H5Sget_simple_extent_type(space) == H5S_NULL ? 0u : 1u};
  const H5D_layout_t kind = H5Pget_layout(properties);
  if (kind == H5D_CHUNKED) {
    H5Pget_chunk(properties, int(extent.size()), extent.data());
    chunk.assign(extent.begin(), extent.end());
  }
  return {kind, shape, chunk};
}

}  // namespace

std::shared_ptr<const Storage> hdf5_storage(Id dataset, const std::string& name) {
  const Id type(H5Dget_type(dataset), H5Tclose);
  if (!is_plausible(type)) fail_input(name, "its numbers have an unknown length: the file is damaged");
  const Id properties(H5Dget_create_plist(dataset), H5Pclose);
  auto [layout, shape, chunk] = layout_of(dataset, properties);
  const auto number = plain_number(type);
  const int descriptor = descriptor_of(dataset);
  const auto filters = known_filters(properties);
  const bool plain = number && descriptor >= 0;
  const bool contiguous = plain && layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) == 0;
  const bool chunked = plain && layout == H5D_CHUNKED && filters;
  const hsize_t stored = layout == H5D_COMPACT ? H5Dget_storage_size(dataset) : 0;
  const std::uint64_t values = volume(shape, name);
  if (values > 0) require_whole(dataset, name);
  // Before memory is taken for so many: deflate packs at most 1032 bytes into one.
  const std::uint64_t plain_bytes = number ? number->bytes : 0;
  if ((contiguous && plain_bytes * values > bytes_of(descriptor)) ||
      (chunked && !can_inflate_to(bytes_of(descriptor), plain_bytes * values))) {
    fail_input(name, "it is longer than the file: the file is truncated or damaged");
  }
  std::shared_ptr<Storage> storage;
  if (contiguous) {
    storage = std::make_shared<Contiguous>(std::move(dataset), descriptor);
    storage->seekable = true;
  } else if (chunked) {
    storage = std::make_shared<Hdf5Chunks>(std::move(dataset), descriptor, *filters);
  } else {
    storage = std::make_shared<Library>(std::move(dataset), type);
    if (layout != H5D_CHUNKED) chunk = slab_of(shape, block_bytes / storage->number.bytes);
  }
  if (contiguous || chunked) storage->number = *number;
  // For an array in the header HDF5 takes the length from there, without comparing it with the shape.
  if (layout == H5D_COMPACT && stored / std::max<std::size_t>(H5Tget_size(type), 1) < values) {
    fail_input(name, "it is damaged: it has fewer values than its shape implies");
  }
  storage->name = name;
  storage->shape = shape;
  storage->chunk = chunk;
  if (!storage->seekable && volume(chunk, name) > largest_chunk / storage->number.bytes) {
    fail_input(name, "its chunks are too large to be read");
  }
  return storage;
}

}  // namespace thor::io::detail
