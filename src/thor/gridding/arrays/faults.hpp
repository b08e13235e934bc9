#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thor/gridding/gas/bad_cells.hpp"

namespace thor::gridding {

/// Values of one plane of a cube, by field.
using Plane = std::map<std::string, std::vector<float>>;

/// Finds and counts cells of a cube with invalid values, and repairs them by the user's choice. A dropped cell becomes
/// an empty one (empty_temperature).
class ArrayFaults {
 public:
  ArrayFaults(OnBadCells policy, double temperature_floor, std::optional<double> density_floor)
      : policy_(policy),
        temperature_floor_(float(temperature_floor)),
        density_floor_(float(density_floor.value_or(0))) {}

  /// Checks and repairs plane `x`, which has rows of `row` cells.
  void check(Plane& plane, std::uint64_t x, std::size_t row);

  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t floored() const { return floored_; }
  std::uint64_t total() const { return total_; }
  std::string describe() const;  ///< one line per kind of fault

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::array<std::uint64_t, 3> first{};
  };

  OnBadCells policy_;
  float temperature_floor_, density_floor_;
  std::map<std::pair<std::string, FaultKind>, Kind> kinds_;
  std::uint64_t total_ = 0, dropped_ = 0, floored_ = 0;
};

}  // namespace thor::gridding
