#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "thor/io/array/input_convert.hpp"
#include "thor/io/array/input_zarr.hpp"
#include "thor/io/descriptor.hpp"
#include "thor/io/zarr/codec.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t largest_packed = std::uint64_t{1} << 32,
                        largest_plain = std::uint64_t{1} << 40;  ///< limits for chunks [bytes]

using Decoder = bool (*)(std::span<const std::byte>, std::span<std::byte>);

class ZarrChunks final : public Storage {
 public:
  fs::path folder;
  char separator = '.';
  bool has_all = false;       ///< no chunk is left out because it has fill values
  Decoder decoder = nullptr;  ///< nullptr: not compressed
  bool deflated = false;
  std::vector<std::size_t> shuffled;  ///< sizes of the values of shuffle filters, in the order they were applied

  bool fetch(const Index& index, std::uint64_t first, std::uint64_t count, ChunkBuffers& buffers) const override {
    const std::string key = zarr::chunk_key(index, separator);
    const Descriptor file(open((folder / key).c_str(), O_RDONLY | O_CLOEXEC));
    const std::string what = name + ", chunk " + key;
    if (file.id < 0 && errno == ENOENT) {
      if (has_all) fail_input(what, "the file is missing (an incomplete copy?)");
      return false;
    }
    struct stat status {};
    if (file.id < 0 || fstat(file.id, &status) != 0) fail_input(what, std::generic_category().message(errno));
    if (!S_ISREG(status.st_mode)) fail_input(what, "it is not a file");
    const std::uint64_t size = std::uint64_t(status.st_size), whole = bytes_of_chunk();
    if (!decoder && size != whole) {
      fail_input(what, size < whole ? "the file is truncated (an incomplete copy?)" : "the file is too long");
    }
    if (seekable) {
      buffers.values.resize(count * number.bytes);
      read_at(file.id, first * number.bytes, buffers.values, what);
      return true;
    }
    buffers.packed.resize(size);
    read_at(file.id, 0, buffers.packed, what);
    unpack(what, buffers.packed, buffers.values);
    return true;
  }

  std::uint64_t bytes_of_chunk() const {
    std::uint64_t bytes = number.bytes;
    for (const auto n : chunk) bytes *= n;
    return bytes;
  }

 private:
  void unpack(const std::string& what, Bytes& packed, Bytes& out) const {
    const std::uint64_t whole = bytes_of_chunk();
    if (decoder) {
      if (deflated && !can_inflate_to(packed.size(), whole)) fail_input(what, "the file is truncated or damaged");
      out.resize(whole);
      if (!decoder(packed, out)) fail_input(what, "the file is truncated or damaged");
    } else {
      out.swap(packed);
    }
    for (auto filter = shuffled.rbegin(); filter != shuffled.rend(); ++filter) {
      packed.resize(whole);
      unshuffle(out, *filter, packed);
      out.swap(packed);
    }
  }
};

[[noreturn]] void unknown_codec(const std::string& name, const std::string& codec, const std::string& library) {
  const std::string remedy = "rewrite the array with the compressor zlib and no filters, or as HDF5";
  if (library.empty()) fail_input(name, "its compressor '" + codec + "' is not supported; " + remedy);
  fail_input(name, "its compressor '" + codec +
                       "' is not available, because thor was built without that library; install " + library +
                       " and build again, or " + remedy);
}

std::string id_of(const json& codec) {
  const json id = codec.is_object() ? codec.value("id", json()) : json();
  return id.is_string() ? id.get<std::string>() : codec.dump();
}

void set_codecs(ZarrChunks& chunks, const json& meta) {
  const json compressor = meta.value("compressor", json());
  if (!compressor.is_null()) {
    const std::string id = id_of(compressor);
    chunks.deflated = id == "zlib" || id == "gzip";
    if (chunks.deflated) {
      chunks.decoder = inflate;
    } else if (id == "blosc") {
      if (!has_blosc()) unknown_codec(chunks.name, id, "libblosc (Debian: libblosc-dev)");
      chunks.decoder = decode_blosc;
    } else if (id == "zstd") {
      if (!has_zstd()) unknown_codec(chunks.name, id, "libzstd (Debian: libzstd-dev)");
      chunks.decoder = decode_zstd;
    } else {
      unknown_codec(chunks.name, id, "");
    }
  }
  const json filters = meta.value("filters", json());
  if (!filters.is_null() && !filters.is_array()) fail_input(chunks.name, "the 'filters' in its .zarray are not a list");
  for (const auto& filter : filters) {
    const json size = filter.is_object() ? filter.value("elementsize", json(4)) : json();
    if (id_of(filter) != "shuffle") unknown_codec(chunks.name, id_of(filter), "");
    if (!size.is_number_unsigned() || size == 0 || size > 64) {
      fail_input(chunks.name, "its filter 'shuffle' has no valid elementsize");
    }
    chunks.shuffled.push_back(size.get<std::size_t>());
  }
}

/// One number in stored form.
Bytes stored_value(const Number& number, const json& value, const std::string& name) {
  Bytes out(number.bytes);
  if (value.is_null()) return out;
  const auto as_double = zarr_number(value);
  if (!as_double) fail_input(name, "its fill_value is not a number");
  const auto put = [&](auto bits) { std::memcpy(out.data(), &bits, out.size()); };
  if (number.kind == Number::Kind::floating) {
    if (number.bytes == 8) put(*as_double);
    if (number.bytes == 4) put(float(*as_double));
    if (number.bytes == 2) {
      std::uint16_t bits = 0;
      while (bits < 0xffff && double(Half{bits}) != *as_double) ++bits;  // 0xffff is NaN
      put(bits);
    }
  } else if (value.is_number_unsigned()) {
    put(value.get<std::uint64_t>());  // little-endian: its first bytes are the shorter number
  } else {
    put(value.is_number_integer() ? value.get<std::int64_t>() : as<std::int64_t>(*as_double));
  }
  if (number.swapped) std::ranges::reverse(out);
  return out;
}
static_assert(std::endian::native == std::endian::little);

}  // namespace

std::shared_ptr<const Storage> zarr_storage(const fs::path& folder, const json& meta, const std::string& name,
                                            bool has_all_chunks) {
  const auto chunks = std::make_shared<ZarrChunks>();
  chunks->name = name;
  chunks->folder = folder;
  chunks->has_all = has_all_chunks;
  const ZarrType type = zarr_type(meta.value("dtype", json()));
  if (!type.number) fail_input(name, "it does not hold readable numbers but values of type '" + type.name + "'");
  chunks->number = *type.number;
  chunks->shape = zarr_extent(meta, "shape", name);
  chunks->chunk = zarr_extent(meta, "chunks", name);
  if (chunks->chunk.size() != chunks->shape.size()) fail_input(name, "its 'chunks' and 'shape' differ in rank");
  if (std::ranges::count(chunks->chunk, 0u) > 0) fail_input(name, "its 'chunks' are empty");
  if (chunks->shape.empty()) chunks->shape = chunks->chunk = {1};
  volume(chunks->shape, name);
  volume(chunks->chunk, name);
  if (meta.value("order", json("C")) != "C") {
    fail_input(name, "its order is F (Fortran), but only C can be read; rewrite it with order='C'");
  }
  const json separator = meta.value("dimension_separator", json("."));
  if (separator != "." && separator != "/") fail_input(name, "its dimension_separator is neither '.' nor '/'");
  chunks->separator = separator == "/" ? '/' : '.';
  set_codecs(*chunks, meta);
  chunks->fill = stored_value(chunks->number, meta.value("fill_value", json()), name);
  chunks->seekable = !chunks->decoder && chunks->shuffled.empty();
  if (chunks->bytes_of_chunk() > (chunks->seekable ? largest_plain : largest_packed)) {
    fail_input(name, "its chunks are too large to be read; rewrite it with smaller ones");
  }
  return chunks;
}

}  // namespace thor::io::detail
