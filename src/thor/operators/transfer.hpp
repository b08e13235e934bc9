#pragma once
#include <array>
#include <string>
#include <vector>

#include "thor/operators/scene.hpp"

namespace thor {
namespace config {

template <class T>
class Section;

enum class FieldScale { log, linear };

/// A peak of a transfer function, or a point of a piecewise one.
struct TransferPoint {
  double at = 0;                   ///< value of the field
  double width = 0;                ///< standard deviation of a peak [dex, or in units of the field]
  std::array<double, 3> colour{};  ///< red, green, blue, from 0 to 1
  double opacity = 0;              ///< optical depth of a path as long as the box

  bool operator==(const TransferPoint&) const = default;
};

/// Colour and opacity as functions of a field.
struct Transfer {
  FieldScale scale = FieldScale::log;
  double low = 0, high = 0;  ///< range of the field
  std::string map;           ///< name of a colour map; "": peaks or points
  double opacity = 0;        ///< of a colour map, at its upper end
  std::vector<TransferPoint> peaks, points;

  bool operator==(const Transfer&) const = default;
};

const Section<Transfer>& transfer_section();

}  // namespace config

inline constexpr int colours = 1024;  ///< entries of a transfer function

/// Red, green, blue and absorption per unit length, for each of `colours` places in the range. Opacities are those of a
/// path as long as `side`, in units of length.
std::vector<float> build_table(const config::Transfer& transfer, double side, double exposure);

}  // namespace thor
