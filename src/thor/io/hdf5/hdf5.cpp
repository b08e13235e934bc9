#include "thor/io/hdf5/hdf5.hpp"

#include "thor/io/hdf5/id.hpp"

namespace thor::io {

std::string version() {
  quiet();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace thor::io
