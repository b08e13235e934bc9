#pragma once
#include "thor/math/functions.hpp"
#include "thor/operators/scene.hpp"

namespace thor {

enum class CameraType : int {
  orthographic,     ///< parallel rays, as those of an observer far away
  perspective,      ///< rays from a point, through a flat image
  equirectangular,  ///< rays from a point into all directions: longitude to the right, latitude upwards
};

/// A camera as the kernels see it. Lengths are in units of the dataset. Pixels are counted from the lower left one.
struct Camera {
  CameraType type;
  int columns, rows;
  double position[3];                  ///< of the camera; of an orthographic one, of the middle of its image
  double right[3], up[3], forward[3];  ///< unit vectors; forward is the way it looks
  double half_width, half_height;      ///< of the image; perspective: of the one at unit distance
  double near, far;                    ///< what is seen lies between these distances from the position

  double pixel() const { return 2 * half_width / columns; }  ///< side of one
};

inline namespace THOR_ISA {

/// The ray through a point of the image, in pixels from its lower left corner.
THOR_FN StraightRay camera_ray(const Camera& camera, double column, double row) {
  const double u = 2 * column / camera.columns - 1, v = 2 * row / camera.rows - 1;
  StraightRay ray{};
  ray.from = camera.near, ray.to = camera.far;
  double right = u * camera.half_width, up = v * camera.half_height, ahead = 1;
  if (camera.type == CameraType::equirectangular) {
    const SinCos<double> longitude = sincos_2pi(0.5 * u), latitude = sincos_2pi(0.25 * v);
    right = latitude.cos * longitude.sin, up = latitude.sin, ahead = latitude.cos * longitude.cos;
  } else if (camera.type == CameraType::perspective) {
    const double inverse = 1 / sqrt(1 + right * right + up * up);
    right = right * inverse, up = up * inverse, ahead = inverse;
  }
  for (int k = 0; k < 3; ++k) {
    const double across = right * camera.right[k] + up * camera.up[k];
    if (camera.type == CameraType::orthographic) {
      ray.position[k] = camera.position[k] + across, ray.direction[k] = camera.forward[k];
    } else {
      ray.position[k] = camera.position[k], ray.direction[k] = across + ahead * camera.forward[k];
    }
  }
  return ray;
}

}  // namespace THOR_ISA
}  // namespace thor
