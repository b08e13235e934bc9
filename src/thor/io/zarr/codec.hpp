#pragma once
#include <cstddef>
#include <span>
#include <vector>

/// How HDF5 and zarr pack the bytes of a chunk. A decoder gives false where what comes in is broken or is not as long
/// as what comes out.
namespace thor::io::detail {

/// The first bytes of all values, then the second bytes of all, ...: deflate packs that better.
void shuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out);
void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::span<std::byte> out);

/// RFC 1950, as both formats use it.
std::vector<std::byte> deflate(std::span<const std::byte> in, int level);
bool inflate(std::span<const std::byte> in, std::span<std::byte> out);  ///< RFC 1950, or gzip (RFC 1952)

/// Only where the build has the library.
bool has_blosc();
bool has_zstd();
bool decode_blosc(std::span<const std::byte> in, std::span<std::byte> out);
bool decode_zstd(std::span<const std::byte> in, std::span<std::byte> out);

/// Whether so few bytes can be that many: keeps a broken file from making us ask for all of the memory.
constexpr bool can_inflate_to(std::size_t in, std::size_t out) { return out / 1032 <= in; }  // deflate's densest code

}  // namespace thor::io::detail
