#pragma once
#include <cstdint>

namespace thor::io {

/// `format_version` of the result files written, and the newest that can be read.
inline constexpr std::int64_t result_format_version = 2;

}  // namespace thor::io
