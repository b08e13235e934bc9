#pragma once

namespace thor::io {

/// `format_version` of the grid files that are written, and the newest that is read; a file without one is of
/// version 1.
///   1  temperature and velocity are those of all gas
///   2  those of each ion, as HI_temperature; those of all gas need not be there
inline constexpr int grid_format_version = 2;

}  // namespace thor::io
