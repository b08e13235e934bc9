#pragma once
#include <cstddef>
#include <span>
#include <vector>

/// Compression of chunks in HDF5 and zarr. A decoder returns false if its input is damaged or does not decode to the
/// length of the output.
namespace thor::io::detail {

/// Stores the first bytes of all values, then the second bytes, ...: deflate compresses that better.
void shuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out);
void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out);

/// Zlib format (RFC 1950), used by both.
std::vector<std::byte> deflate(std::span<const std::byte> in, int level);
bool inflate(std::span<const std::byte> in, std::span<std::byte> out);  ///< RFC 1950, or gzip (RFC 1952)

/// Removes the Fletcher-32 sum that HDF5 appends to a chunk; false if it is not that of the other bytes.
bool take_checksum(std::vector<std::byte>& bytes);

/// Only if built with the library.
bool has_blosc();
bool has_zstd();
bool decode_blosc(std::span<const std::byte> in, std::span<std::byte> out);
bool decode_zstd(std::span<const std::byte> in, std::span<std::byte> out);

/// Whether so few bytes can decode to that many: keeps a damaged file from requesting all of the memory.
constexpr bool can_inflate_to(std::size_t in, std::size_t out) { return out / 1032 <= in; }  // deflate's densest code

}  // namespace thor::io::detail
