#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace thor::config {

template <class T>
class Section;

/// One sightline of a list.
struct Sightline {
  std::array<double, 3> position{};   ///< where it begins [cm]
  std::array<double, 3> direction{};  ///< of any length

  bool operator==(const Sightline&) const = default;
};

/// Sightlines: random ones, a regular grid of them, or a list.
struct Sightlines {
  std::uint64_t random = 0, grid = 0;
  std::vector<Sightline> list{};
  std::array<double, 3> direction{};  ///< along which light has travelled less and less: away from the observer
  std::optional<double> length{};     ///< [cm]; by default to where they leave the gas

  double count() const { return list.empty() ? double(random) + double(grid) * double(grid) : double(list.size()); }
  bool operator==(const Sightlines&) const = default;
};

const Section<Sightlines>& sightlines_section();

}  // namespace thor::config
