#pragma once
#include <string>

namespace thor::io {

/// The HDF5 library in use, such as "1.10.8".
std::string version();

}  // namespace thor::io
