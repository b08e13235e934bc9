#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thor/gridding/gas/bad_cells.hpp"

namespace thor::gridding {

/// Values of one plane of cells of a cube, by field.
using Plane = std::map<std::string, std::vector<float>>;

/// Cells of a cube with impossible values: found, counted, and handled as the user asked. A dropped cell is empty, like
/// one without gas (empty_temperature).
class CubeFaults {
 public:
  CubeFaults(OnBadCells policy, double temperature_floor, std::optional<double> density_floor)
      : policy_(policy),
        temperature_floor_(float(temperature_floor)),
        density_floor_(float(density_floor.value_or(0))) {}

  /// Checks plane `x`, with rows of `row` cells.
  void look(Plane& plane, std::uint64_t x, std::size_t row);

  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t floored() const { return floored_; }
  std::uint64_t total() const { return total_; }
  std::string describe() const;  ///< one line per kind

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::array<std::uint64_t, 3> first{};
  };

  OnBadCells policy_;
  float temperature_floor_, density_floor_;
  std::map<std::pair<std::string, Fault>, Kind> kinds_;
  std::uint64_t total_ = 0, dropped_ = 0, floored_ = 0;
};

}  // namespace thor::gridding
