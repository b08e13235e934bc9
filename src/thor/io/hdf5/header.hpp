#pragma once
#include <hdf5.h>

namespace thor::io {

/// Whether the attributes of an object can be read. HDF5 before 1.14.1 believes the sizes in an attribute's message and
/// reads up to 64 KiB beyond it: garbage, or the end of the process. So they are checked here, before any call of H5A.
bool has_sound_attributes(hid_t object);

/// Whether the bits of a number (its sign, exponent and mantissa) are inside its bytes, which HDF5 does not check
/// before it converts them. True for types of other kinds.
bool is_sound_number(hid_t type);

}  // namespace thor::io
