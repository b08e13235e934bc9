#pragma once
#include <hdf5.h>

#include <string>

namespace thor::io {

/// The longest text of an attribute that is read [bytes].
inline constexpr std::size_t longest_text = 1 << 24;

/// The text of an attribute, of fixed or variable length; false: it is damaged, or there are several.
///
/// Texts of variable length lie in a global heap, whose reading by HDF5 itself (seen in 1.10.8) does not survive
/// damage: it reads beyond its memory, or does not end. So the library gives only the reference, and the heap is read
/// here, with every length checked.
bool read_text(hid_t attribute, std::string& text);

}  // namespace thor::io
