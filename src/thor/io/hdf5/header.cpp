#include "thor/io/hdf5/header.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "thor/io/hdf5/bytes.hpp"

/// Object headers of version 1 and their messages of attributes, links and link info (HDF5 file format specification,
/// IV.A.1.a, IV.A.2.m, g and c). Headers of version 2 have a checksum.
namespace thor::io {
namespace {

constexpr std::uint64_t longest_block = 1 << 26;
constexpr std::size_t most_blocks = 1 << 12;

struct HeaderBlock {
  std::uint64_t address, bytes;
};
using Span = std::span<const unsigned char>;

/// The number of values of a dataspace message; false: it is cut, or has far too many.
bool count_values(Span space, std::size_t length, std::uint64_t& count) {
  count = 1;
  if (space.size() < 4) return false;
  const std::size_t rank = space[1], head = space[0] == 1 ? 8 : 4;
  if (space[0] == 2 && space[3] == 2) count = 0;  // none
  if (space.size() < head + rank * length) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t extent = little_endian(&space[head + d * length], length);
    if (extent > 0 && count > (std::uint64_t{1} << 40) / extent) return false;
    count *= extent;
  }
  return true;
}

/// Whether the name, type, space and values of an attribute are inside its message.
bool is_sound_attribute(Span message, std::size_t length) {
  const unsigned version = message.empty() ? 0 : message[0];
  const std::size_t head = version == 3 ? 9 : 8;
  if (version < 1 || version > 3 || message.size() < head) return false;
  const auto part = [&](std::size_t at) {
    const std::uint64_t bytes = little_endian(&message[at], 2);
    return version == 1 ? padded(bytes) : bytes;
  };
  const std::uint64_t name = part(2), type = part(4), space = part(6), before = head + name + type + space;
  if (before > message.size()) return false;
  const unsigned shared = version == 1 ? 0 : message[1];  // bit 0: the type is elsewhere; bit 1: the space
  std::uint64_t values = 0;
  if ((shared & 2) == 0 && !count_values(message.subspan(head + name + type, space), length, values)) return false;
  if (shared != 0) return true;
  if (type < 8) return false;
  const std::uint64_t size = little_endian(&message[head + name + 4], 4);
  return size == 0 || values <= (message.size() - before) / size;
}

/// Whether addresses of the links of a group are inside the file, or undefined: all bits are set then. HDF5 complains
/// about an unknown version itself.
bool is_sound_link_info(Span message, const Layout& layout, std::uint64_t file_bytes) {
  if (message.size() < 2 || message[0] != 0) return true;
  const unsigned flags = message[1];  // bit 0: order of creation is tracked; bit 1: and indexed
  const std::size_t first = (flags & 1) != 0 ? 10 : 2, count = (flags & 2) != 0 ? 3 : 2;
  if (message.size() < first + count * layout.address) return false;
  const std::uint64_t undefined = ~std::uint64_t{0} >> (64 - 8 * layout.address);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t address = little_endian(&message[first + i * layout.address], layout.address);
    if (address != undefined && (address >= file_bytes || layout.base >= file_bytes - address)) return false;
  }
  return true;
}

/// Whether what an external link holds has a byte of flags and two texts that end.
bool is_sound_external(Span value) { return value.size() >= 3 && std::ranges::count(value.subspan(1), 0) >= 2; }

/// Whether the name and the value of a link are inside its message.
bool is_sound_link(Span message, std::size_t address) {
  if (message.size() < 2 || message[0] != 1) return true;  // HDF5 complains about an unknown version itself
  const unsigned flags = message[1];  // bits 0 and 1: bytes of the length of the name; what comes before it
  constexpr unsigned has_type = 8, has_order = 4, has_set = 16, external = 64;
  std::size_t at = 2;
  const auto left = [&](std::uint64_t bytes) { return at <= message.size() && bytes <= message.size() - at; };
  if (!left(1)) return false;
  const unsigned type = (flags & has_type) != 0 ? message[at++] : 0;
  at += ((flags & has_order) != 0 ? 8u : 0u) + ((flags & has_set) != 0 ? 1u : 0u);
  const std::size_t width = std::size_t{1} << (flags & 3);
  if (!left(width)) return false;
  const std::uint64_t name = little_endian(&message[at], width);
  at += width;
  if (!left(name)) return false;
  at += name;
  if (type == 0) return left(address);  // a hard link; others have a length of 2 bytes and a value
  if (!left(2)) return false;
  const std::uint64_t bytes = little_endian(&message[at], 2);
  at += 2;
  return left(bytes) && (type != external || is_sound_external(message.subspan(at, bytes)));
}

/// Whether a message is one that HDF5 survives.
bool is_sound_message(std::uint64_t type, Span message, const Layout& layout, std::uint64_t file_bytes) {
  constexpr unsigned link_info = 0x02, link = 0x06, attribute = 0x0c;
  if (type == link_info) return is_sound_link_info(message, layout, file_bytes);
  if (type == link) return is_sound_link(message, layout.address);
  return type != attribute || is_sound_attribute(message, layout.length);
}

/// Reads the messages of a block, and adds the blocks that continue it.
bool is_sound_block(Span block, const Layout& layout, std::uint64_t file_bytes, std::vector<HeaderBlock>& blocks) {
  for (std::size_t at = 0; at + 8 <= block.size();) {
    const std::uint64_t type = little_endian(&block[at], 2), bytes = little_endian(&block[at + 2], 2);
    const bool shared = (block[at + 4] & 2) != 0;
    at += 8;
    if (bytes > block.size() - at) return false;
    const Span message = block.subspan(at, bytes);
    constexpr unsigned continuation = 0x10;
    if (!shared && !is_sound_message(type, message, layout, file_bytes)) return false;
    if (type == continuation) {
      if (bytes < layout.address + layout.length) return false;
      blocks.push_back(
          {little_endian(&message[0], layout.address), little_endian(&message[layout.address], layout.length)});
    }
    at += bytes;
  }
  return true;
}

}  // namespace

bool has_sound_header(hid_t object) {
  const auto place = object_place(object);
  Layout layout;
  if (!place || !Layout::of(object, layout)) return false;
  const Bytes file(object);
  std::array<unsigned char, 16> prefix{};
  if (!file.read(layout.base + place->address, prefix)) return false;
  if (std::memcmp(prefix.data(), "OHDR", 4) == 0) return true;
  std::vector<HeaderBlock> blocks{{place->address + prefix.size(), little_endian(&prefix[8], 4)}};
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const HeaderBlock block = blocks[i];
    if (block.bytes > longest_block || blocks.size() > most_blocks) return false;
    bytes.resize(block.bytes);
    if (!file.read(layout.base + block.address, bytes)) return false;
    if (!is_sound_block(bytes, layout, file.size(), blocks)) return false;
  }
  return true;
}

bool is_sound_number(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  const auto inside = [&](std::size_t at, std::size_t count) { return at < bits && count > 0 && count <= bits - at; };
  if (H5Tget_class(type) == H5T_INTEGER) return inside(std::size_t(H5Tget_offset(type)), H5Tget_precision(type));
  if (H5Tget_class(type) != H5T_FLOAT) return true;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) return false;
  return inside(sign, 1) && inside(exponent, exponent_bits) && inside(mantissa, mantissa_bits);
}

}  // namespace thor::io
