#pragma once
#include <filesystem>

#include "thor/io/result/product.hpp"

namespace thor::io {

/// Writes a spectrum, profile or histogram as columns of text: middle of the bin along each axis, light, error. Lines
/// that begin with # say what they are; numbers are given with all their digits.
void write_text(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                const Product& product);

}  // namespace thor::io
