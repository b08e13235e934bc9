#pragma once
#include <array>
#include <string>
#include <vector>

#include "thor/generators/parameters.hpp"

namespace thor {

struct PointSource {
  std::array<double, 3> position;  ///< [cm]
  double brightness;               ///< in the unit of the generator's `brightness`: erg/s, 1/s or M_sun/yr
  std::array<double, 3> velocity;  ///< [cm/s]; read where the generator's frame is that of the sources
};

/// The sources of a generator's file: a group of HDF5 or zarr with `position` [cm] and a column named as the
/// brightness, or a text table whose first line names the columns with their units, as in
///
///   # x[kpc] y[kpc] z[kpc] luminosity[erg/s]
///
/// Velocities are an array `velocity`, or the columns vx, vy and vz.
/// Every failure is an Error(input) that names file and line or array.
std::vector<PointSource> read_sources(const config::Generator& generator);

/// Throws that Error; `where` is a file, maybe with a line.
[[noreturn]] void refuse_source(const std::string& where, const std::string& why);

}  // namespace thor
