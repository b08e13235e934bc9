#pragma once
#include <array>
#include <string>

namespace thor {

/// Named colours of a number from 0 to 1.
bool has_colour_map(const std::string& name);
std::string colour_map_names();                           ///< "inferno, viridis, ..."
inline constexpr const char* diverging_map = "blue_red";  ///< for values on both sides of 0
/// Red, green and blue, from 0 to 1.
std::array<double, 3> colour_in_map(const std::string& name, double place);

}  // namespace thor
