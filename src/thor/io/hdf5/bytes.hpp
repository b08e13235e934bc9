#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include "thor/io/hdf5/id.hpp"

/// Bytes of an HDF5 file, for what the library does not read safely.
namespace thor::io {

/// The file that contains an object or an attribute, with its own descriptor.
class Bytes {
 public:
  explicit Bytes(hid_t object) {
    const ssize_t size = H5Fget_name(object, nullptr, 0);
    std::string name(std::size_t(std::max<ssize_t>(size, 0)) + 1, '\0');
    H5Fget_name(object, name.data(), name.size());
    descriptor_ = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~Bytes() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::uint64_t size() const {
    struct stat status {};
    return fstat(descriptor_, &status) == 0 ? std::uint64_t(status.st_size) : 0;
  }

  bool read(std::uint64_t position, std::span<unsigned char> out) const {
    while (!out.empty()) {
      if (descriptor_ < 0 || position > std::uint64_t{1} << 62) return false;
      const ssize_t got = pread(descriptor_, out.data(), out.size(), off_t(position));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      position += std::uint64_t(got);
      out = out.subspan(std::size_t(got));
    }
    return true;
  }

 private:
  int descriptor_ = -1;
};

inline std::uint64_t little_endian(const unsigned char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

inline std::uint64_t padded(std::uint64_t size) { return (size + 7) / 8 * 8; }

/// Sizes of addresses and lengths in a file, and the base of its addresses.
struct Layout {
  std::size_t address = 0, length = 0;
  hsize_t base = 0;

  static bool of(hid_t object, Layout& out) {
    const Id file(H5Iget_file_id(object), H5Fclose);
    const Id properties(file >= 0 ? H5Fget_create_plist(file) : -1, H5Pclose);
    return properties >= 0 && H5Pget_sizes(properties, &out.address, &out.length) >= 0 &&
           H5Pget_userblock(properties, &out.base) >= 0 && out.address >= 2 && out.address <= 8 && out.length >= 2 &&
           out.length <= 8;
  }
};

}  // namespace thor::io
