#pragma once
#include <hdf5.h>

namespace thor::io {

/// Whether the attributes and the links of an object can be read. HDF5 before 1.14.1 believes the sizes in the message
/// of an attribute or a link and reads up to 64 KiB beyond it, and addresses of links wherever they lead: garbage, or
/// the end of the process. So they are checked here, before any call of H5A or H5L.
bool has_sound_header(hid_t object);

/// Whether the bits of a number (its sign, exponent and mantissa) are inside its bytes, which HDF5 does not check
/// before it converts them. True for types of other kinds.
bool is_sound_number(hid_t type);

}  // namespace thor::io
