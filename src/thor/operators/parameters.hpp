#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thor/operators/absorption.hpp"
#include "thor/operators/camera.hpp"
#include "thor/operators/render.hpp"

/// Keys of cameras, sightlines and operators.
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

  bool operator==(const Sightlines&) const = default;
};

struct SliceOperator {
  static constexpr const char* type = "slice";
  static constexpr const char* meaning = "a field in a plane, as it is in the cells";
  static const Section<SliceOperator>& section();
  std::string name, camera, field;
  double offset = 0;  ///< of the plane from the centre of the camera, towards it [cm]

  bool operator==(const SliceOperator&) const = default;
};

struct ProjectionOperator {
  static constexpr const char* type = "projection";
  static constexpr const char* meaning = "the integral of a field along the ray of each pixel, or its weighted mean";
  static const Section<ProjectionOperator>& section();
  std::string name, camera, field, weight;
  std::uint64_t samples = 1;

  bool operator==(const ProjectionOperator&) const = default;
};

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

struct RenderLayerKeys {
  std::string field, brightness;
  Transfer transfer;

  bool operator==(const RenderLayerKeys&) const = default;
};

struct RenderOperator {
  static constexpr const char* type = "render";
  static constexpr const char* meaning = "a picture of the volume, by transfer functions of fields";
  static const Section<RenderOperator>& section();
  std::string name, camera;
  RenderLayerKeys layer;                ///< the first,
  std::vector<RenderLayerKeys> layers;  ///< and more
  std::uint64_t samples = 1;
  double stop = 0;
  double exposure = 1;  ///< factor of brightness

  bool operator==(const RenderOperator&) const = default;
};

enum class AbsorptionAxis { velocity, wavelength };

struct AbsorptionOperator {
  static constexpr const char* type = "absorption";
  static constexpr const char* meaning = "spectra of what a line absorbs along sightlines";
  static const Section<AbsorptionOperator>& section();
  std::string name, line, density_field;
  Sightlines sightlines;
  AbsorptionAxis axis = AbsorptionAxis::velocity;
  double low = 0, high = 0;  ///< [cm/s] or [cm]
  std::uint64_t bins = 0;
  std::uint64_t oversampling = 0, subsampling = 0;  ///< 0: as many as it takes
  double lsf = 0;                                   ///< FWHM [cm/s]; 0: none
  double signal_to_noise = 0;                       ///< of a bin of the continuum; 0: no noise

  bool operator==(const AbsorptionOperator&) const = default;
};

struct TracerOperator {
  static constexpr const char* type = "tracer";
  static constexpr const char* meaning = "fields along sightlines, piece by piece";
  static const Section<TracerOperator>& section();
  std::string name, fields;
  Sightlines sightlines;

  bool operator==(const TracerOperator&) const = default;
};

/// Every type of operator: the one list of them.
using Operator = std::variant<SliceOperator, ProjectionOperator, RenderOperator, AbsorptionOperator, TracerOperator>;
const Section<Operator>& operator_section();

/// The factors of a product such as "density * metallicity"; empty if it is none.
std::vector<std::string> factors_of(const std::string& product);
/// The names in a list such as "density, temperature".
std::vector<std::string> listed(const std::string& names);

}  // namespace thor::config
