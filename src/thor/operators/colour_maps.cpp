#include "thor/operators/colour_maps.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "thor/io/png/colour_map.hpp"

namespace thor {
namespace {

using Colour = std::array<double, 3>;

/// viridis by S. van der Walt, N. Smith and E. Firing (matplotlib, CC0): every 32nd of its 256 colours.
constexpr Colour viridis[] = {{0.267, 0.005, 0.329}, {0.278, 0.176, 0.482}, {0.231, 0.318, 0.545},
                              {0.173, 0.443, 0.557}, {0.129, 0.565, 0.553}, {0.153, 0.678, 0.506},
                              {0.361, 0.784, 0.388}, {0.667, 0.863, 0.196}, {0.993, 0.906, 0.144}};
constexpr Colour grey[] = {{0, 0, 0}, {1, 1, 1}};
/// Black, blue, white.
constexpr Colour ice[] = {{0, 0, 0}, {0.05, 0.15, 0.45}, {0.25, 0.55, 0.85}, {0.75, 0.9, 1}, {1, 1, 1}};
/// Blue over white to red.
constexpr Colour blue_red[] = {{0.1, 0.2, 0.75}, {0.5, 0.65, 1}, {0.95, 0.95, 0.95}, {1, 0.6, 0.45}, {0.75, 0.1, 0.1}};

struct Map {
  const char* name;
  std::span<const Colour> colours;  ///< none: that of io/png
};
constexpr Map maps[] = {{"inferno", {}}, {"viridis", viridis}, {"grey", grey}, {"ice", ice}, {diverging_map, blue_red}};

}  // namespace

bool has_colour_map(const std::string& name) {
  return std::ranges::any_of(maps, [&](const Map& map) { return map.name == name; });
}

std::string colour_map_names() {
  std::string names;
  for (const Map& map : maps) names += (names.empty() ? "" : ", ") + std::string(map.name);
  return names;
}

Colour colour_in_map(const std::string& name, double place) {
  const Map& map = *std::ranges::find_if(maps, [&](const Map& m) { return m.name == name; });
  const double t = std::clamp(place, 0., 1.);
  if (map.colours.empty()) {
    const io::Colour c = io::colour_of(t);
    return {c.red / 255., c.green / 255., c.blue / 255.};
  }
  const double at = t * double(map.colours.size() - 1);
  const auto low = std::min(std::size_t(at), map.colours.size() - 2);
  Colour colour;
  for (std::size_t k = 0; k < 3; ++k)
    colour[k] = std::lerp(map.colours[low][k], map.colours[low + 1][k], at - double(low));
  return colour;
}

}  // namespace thor
