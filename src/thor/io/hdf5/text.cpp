#include "thor/io/hdf5/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "thor/io/hdf5/bytes.hpp"

namespace thor::io {
namespace {

/// HDF5 conversion from a variable-length text to plain bytes, which leaves the reference as stored on disk.
herr_t keep_reference(hid_t source, hid_t, H5T_cdata_t* data, std::size_t, std::size_t, std::size_t, void*, void*,
                      hid_t) {
  if (data->command == H5T_CONV_INIT) {
    data->need_bkg = H5T_BKG_NO;
    return H5Tis_variable_str(source) > 0 ? 0 : -1;
  }
  return 0;
}

bool register_conversion() {
  const Id text(H5Tcopy(H5T_C_S1), H5Tclose), bytes(H5Tcreate(H5T_OPAQUE, 16), H5Tclose);
  H5Tset_size(text, H5T_VARIABLE);
  return H5Tregister(H5T_PERS_SOFT, "reference of a text", text, bytes, keep_reference) >= 0;
}

/// Object `index` of the global heap collection at `address` (HDF5 file format specification, III.E): "GCOL", a version
/// and the size are followed by objects, each with an index, a reference count, its size and its bytes, up to index 0.
bool read_heap(const Bytes& file, const Layout& layout, std::uint64_t address, std::uint64_t index,
               std::span<unsigned char> out) {
  constexpr int most_objects = 1 << 16;  // an index has 16 bits
  std::array<unsigned char, 16> head{};
  const std::span header(head.data(), 8 + layout.length);
  std::uint64_t at = layout.base + address;
  if (!file.read(at, header) || std::memcmp(head.data(), "GCOL\1", 5) != 0) return false;
  const std::uint64_t size = little_endian(&head[8], layout.length);
  if (size > std::uint64_t{1} << 62) return false;
  const std::uint64_t end = at + size;
  at += padded(header.size());
  for (int i = 0; i < most_objects && at + header.size() <= end; ++i) {
    if (!file.read(at, header)) return false;
    const std::uint64_t found = little_endian(&head[0], 2), bytes = little_endian(&head[8], layout.length);
    if (found == 0 || bytes > end - at) return false;
    at += padded(header.size());
    if (found == index) return bytes >= out.size() && file.read(at, out);
    at += padded(bytes);
  }
  return false;
}

bool read_variable_text(hid_t attribute, std::string& text) {
  static const bool registered = register_conversion();
  Layout layout;
  if (!registered || !Layout::of(attribute, layout)) return false;
  std::array<unsigned char, 16> reference{};
  const Id bytes(H5Tcreate(H5T_OPAQUE, 8 + layout.address), H5Tclose);
  if (H5Aread(attribute, bytes, reference.data()) < 0) return false;
  const std::uint64_t length = little_endian(&reference[0], 4), address = little_endian(&reference[4], layout.address);
  const std::uint64_t index = little_endian(&reference[4 + layout.address], 4);
  text.clear();
  if (length == 0 || address == 0) return true;  // none was written
  if (length > longest_text) return false;
  text.resize(length);
  const std::span out(reinterpret_cast<unsigned char*>(text.data()), text.size());
  return read_heap(Bytes(attribute), layout, address, index, out);
}

}  // namespace

bool read_text(hid_t attribute, std::string& text) {
  const Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return false;
  if (H5Tis_variable_str(type) > 0) {
    if (!read_variable_text(attribute, text)) return false;
  } else {
    const std::size_t size = H5Tget_size(type);
    if (size > longest_text) return false;
    text.assign(size, '\0');
    if (H5Aread(attribute, type, text.data()) < 0) return false;
  }
  text.resize(std::min(text.find('\0'), text.size()));
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
  return true;
}

}  // namespace thor::io
