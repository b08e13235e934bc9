#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "thor/operators/camera.hpp"

namespace thor::config {

template <class T>
class Section;

enum class PathType { rotate, zoom, fly };

/// The way of a camera from its first frame to its last.
struct CameraPath {
  PathType type = PathType::rotate;
  std::uint64_t frames = 0;
  double angle = 0;            ///< rotate: about the upward direction [rad]
  double width = 0;            ///< zoom: of the last frame [cm]
  std::array<double, 3> to{};  ///< fly: position in the last frame [cm]

  bool operator==(const CameraPath&) const = default;
};

struct Camera {
  std::string name;
  CameraType type = CameraType::orthographic;
  std::array<double, 3> direction{};              ///< from what is seen to the camera; of any length
  std::array<double, 3> up{};                     ///< what is upwards in the image
  std::optional<std::array<double, 3>> centre{};  ///< in the middle of the image [cm]; by default that of the gas
  std::array<double, 3> position{};               ///< of a camera that is somewhere [cm]
  double width = 0;                               ///< orthographic [cm]
  double field_of_view = 0;                       ///< perspective, from left to right [rad]
  std::uint64_t pixels = 0, rows = 0;             ///< rows 0: as many as fit square pixels
  std::optional<double> depth{};                  ///< orthographic: of what is seen, around the centre [cm]
  std::optional<CameraPath> path{};

  bool operator==(const Camera&) const = default;
};
const Section<Camera>& camera_section();

}  // namespace thor::config
