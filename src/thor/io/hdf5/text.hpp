#pragma once
#include <hdf5.h>

#include <string>

namespace thor::io {

/// Longest attribute text that is read [bytes].
inline constexpr std::size_t longest_text = 1 << 24;

/// Text of an attribute of fixed or variable length; false: it is damaged, or there are several.
///
/// Texts of variable length are in a global heap. HDF5's own code for it does not survive damage (seen in 1.10.8): it
/// reads beyond its memory, or does not end. So the library provides only the reference, and the heap is read here,
/// with every length checked.
bool read_text(hid_t attribute, std::string& text);

}  // namespace thor::io
