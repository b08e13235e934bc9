#pragma once

namespace thor::io {

/// `format_version` of the grid files written, and the newest that can be read; a file without one has version 1.
///   1  temperature and velocity of all gas
///   2  temperature and velocity of each ion, such as HI_temperature; those of all gas are optional
inline constexpr int grid_format_version = 2;

}  // namespace thor::io
