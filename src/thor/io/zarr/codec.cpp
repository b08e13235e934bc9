#include "thor/io/zarr/codec.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#ifdef THOR_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef THOR_HAVE_ZSTD
#include <zstd.h>
#endif

namespace thor::io::detail {
namespace {

template <std::size_t size>
void interleave(const std::byte* in, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < size; ++b) out[size * i + b] = in[b * count + i];
  }
}

}  // namespace

void shuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out) {
  const std::size_t count = in.size() / value_bytes, end = count * value_bytes;
  for (std::size_t b = 0; b < value_bytes; ++b) {
    for (std::size_t i = 0; i < count; ++i) out[b * count + i] = in[value_bytes * i + b];
  }
  std::copy(in.begin() + std::ptrdiff_t(end), in.end(), out.begin() + std::ptrdiff_t(end));
}

void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out) {
  const std::size_t count = in.size() / value_bytes, end = count * value_bytes;
  switch (value_bytes) {
    case 2:
      interleave<2>(in.data(), count, out.data());
      break;
    case 4:
      interleave<4>(in.data(), count, out.data());
      break;
    case 8:
      interleave<8>(in.data(), count, out.data());
      break;
    default:
      for (std::size_t b = 0; b < value_bytes; ++b) {
        for (std::size_t i = 0; i < count; ++i) out[value_bytes * i + b] = in[b * count + i];
      }
  }
  std::copy(in.begin() + std::ptrdiff_t(end), in.end(), out.begin() + std::ptrdiff_t(end));
}

namespace {

/// Fletcher (1982, IEEE Trans. Commun. 30, 247) over words of 16 bits, the more significant byte first; an odd byte is
/// followed by a zero.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0, sum_of_sums = 0;
  const auto reduce = [](std::uint32_t value) { return (value & 0xffffu) + (value >> 16); };
  constexpr std::size_t before_overflow = 720;  // bytes: 360 words
  for (std::size_t first = 0; first < bytes.size(); first += before_overflow) {
    const auto part = bytes.subspan(first, std::min(before_overflow, bytes.size() - first));
    for (std::size_t i = 0; i < part.size(); i += 2) {
      sum += std::uint32_t(part[i]) << 8 | (i + 1 < part.size() ? std::uint32_t(part[i + 1]) : 0u);
      sum_of_sums += sum;
    }
    sum = reduce(sum), sum_of_sums = reduce(sum_of_sums);
  }
  return reduce(sum_of_sums) << 16 | reduce(sum);
}

}  // namespace

bool take_checksum(std::vector<std::byte>& bytes) {
  constexpr std::size_t length = 4;
  if (bytes.size() < length) return false;
  std::uint32_t stored = 0;
  for (std::size_t i = 1; i <= length; ++i) stored = stored << 8 | std::uint32_t(bytes[bytes.size() - i]);
  bytes.resize(bytes.size() - length);
  const std::uint32_t sum = fletcher32(bytes);
  // HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines; its readers accept both.
  const std::uint32_t swapped = (sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu);
  return stored == sum || stored == swapped;
}

std::vector<std::byte> deflate(std::span<const std::byte> in, int level) {
  uLongf size = compressBound(uLong(in.size()));
  std::vector<std::byte> out(size);
  const auto* from = reinterpret_cast<const Bytef*>(in.data());
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, from, uLong(in.size()), level) != Z_OK) {
    throw std::bad_alloc();
  }
  out.resize(size);
  return out;
}

bool inflate(std::span<const std::byte> in, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + 32) != Z_OK) throw std::bad_alloc();  // + 32: zlib's header or gzip's
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  std::size_t in_left = in.size(), out_left = out.size();
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  int status = Z_OK;
  do {
    const auto in_now = uInt(std::min(in_left, most)), out_now = uInt(std::min(out_left, most));
    stream.avail_in = in_now;
    stream.avail_out = out_now;
    status = ::inflate(&stream, Z_NO_FLUSH);
    in_left -= in_now - stream.avail_in;
    out_left -= out_now - stream.avail_out;
  } while (status == Z_OK);
  inflateEnd(&stream);
  return status == Z_STREAM_END && out_left == 0;
}

#ifdef THOR_HAVE_BLOSC
bool has_blosc() { return true; }
bool decode_blosc(std::span<const std::byte> in, std::span<std::byte> out) {
  std::size_t size = 0;
  if (blosc_cbuffer_validate(in.data(), in.size(), &size) < 0 || size != out.size()) return false;
  // This call is thread-safe and does not start threads.
  return blosc_decompress_ctx(in.data(), out.data(), out.size(), 1) == int(size);
}
#else
bool has_blosc() { return false; }
bool decode_blosc(std::span<const std::byte>, std::span<std::byte>) { return false; }
#endif

#ifdef THOR_HAVE_ZSTD
bool has_zstd() { return true; }
bool decode_zstd(std::span<const std::byte> in, std::span<std::byte> out) {
  return ZSTD_decompress(out.data(), out.size(), in.data(), in.size()) == out.size();
}
#else
bool has_zstd() { return false; }
bool decode_zstd(std::span<const std::byte>, std::span<std::byte>) { return false; }
#endif

}  // namespace thor::io::detail
