#pragma once
#include <filesystem>

#include "thor/io/fits/wcs.hpp"

namespace thor::io {

/// Writes a product as FITS: extensions DATA and STAT, the variance, as MUSE and MPDAF have them, and VOV where it is
/// known; of a profile a table, PROFILE. The primary header says where it comes from.
void write_fits(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                const Product& product, const SkyPosition& position);

}  // namespace thor::io
