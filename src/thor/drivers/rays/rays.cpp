#include "thor/drivers/rays/rays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thor/core/error.hpp"
#include "thor/math/vector.hpp"

namespace thor {
namespace {

constexpr double unlimited = 1e9;  ///< in units of the dataset

/// Rotates about a unit vector (Rodrigues 1840).
Vector rotated(const Vector& v, const Vector& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return plus(plus(times(c, v), times(s, cross(axis, v))), times((1 - c) * dot(axis, v), axis));
}

}  // namespace

double progress_of(const config::CameraPath& path, std::uint64_t frame) {
  const bool turn =
      path.type == config::PathType::rotate &&
      std::abs(std::remainder(path.angle, 2 * std::numbers::pi)) < 1e-9;  // the first frame follows the last
  return double(frame) / double(turn ? path.frames : path.frames - 1);
}

Camera build_camera(const config::Camera& c, const GasOutline& gas, double progress) {
  using config::PathType;
  Vector centre = c.centre.value_or(gas.centre), position = c.position, towards = unit(c.direction);
  double width = c.width;
  const bool parallel = c.type == CameraType::orthographic;
  if (c.path && c.path->type == PathType::rotate) {
    const double angle = progress * c.path->angle;
    towards = rotated(towards, unit(c.up), angle);
    position = plus(centre, rotated(plus(position, times(-1, centre)), unit(c.up), angle));
  } else if (c.path && c.path->type == PathType::zoom) {
    if (!parallel)
      throw Error(ExitCode::usage, "camera " + c.name + ": path: zoom is for orthographic cameras; use fly");
    width = c.width * std::pow(c.path->width / c.width, progress);
  } else if (c.path) {
    Vector& moved = parallel ? centre : position;
    for (std::size_t k = 0; k < 3; ++k) moved[k] = std::lerp(moved[k], c.path->to[k], progress);
  }
  Camera out{};
  out.type = c.type, out.columns = int(c.pixels), out.rows = int(c.rows);
  Vector forward = times(-1, towards);
  if (!parallel) {
    const Vector to_centre = plus(centre, times(-1, position));
    if (!(length(to_centre) > 0)) {
      throw Error(
          ExitCode::usage,
          "camera " + c.name + ": position and centre are equal, so the camera has no direction: change one of them");
    }
    forward = unit(to_centre);
  }
  if (c.path && !(length(cross(forward, unit(c.up))) > 1e-6)) {
    throw Error(ExitCode::usage,
                "camera " + c.name + ": up is parallel to the line of sight: choose another direction");
  }
  const Vector right = unit(cross(forward, unit(upward(forward, c.up)))), up = cross(right, forward);
  for (std::size_t k = 0; k < 3; ++k) {
    out.position[k] = (parallel ? centre : position)[k] / gas.length;
    out.right[k] = right[k], out.up[k] = up[k], out.forward[k] = forward[k];
  }
  out.half_width = parallel                            ? 0.5 * width / gas.length
                   : c.type == CameraType::perspective ? std::tan(0.5 * c.field_of_view)
                                                       : 1;
  out.half_height = out.half_width * double(c.rows) / double(c.pixels);
  out.near = parallel ? (c.depth ? -0.5 * *c.depth / gas.length : -unlimited) : 0;
  out.far = parallel && c.depth ? 0.5 * *c.depth / gas.length : unlimited;
  return out;
}

void look_through(ImageTask& task, const Camera& camera, const GasOutline& gas) {
  Camera& c = task.job.camera = camera;
  task.job.samples = task.samples, task.job.tables = {task.tables.data(), task.tables.size()};
  if (task.plane) {
    for (std::size_t k = 0; k < 3; ++k) c.position[k] -= *task.plane / gas.length * c.forward[k];
    c.near = 0, c.far = 1e-9;
  }
}

void set_units(const ImageTask& task, std::span<double> planes) {
  const auto count = std::size_t(task.job.planes), pixels = planes.size() / count;
  for (std::size_t k = 0; k < count; ++k) {
    for (double& number : planes.subspan(k * pixels, pixels)) number *= task.scale[k];
  }
}

std::vector<double> values_of(const ImageTask& task, std::span<const double> planes) {
  const auto pixels = std::size_t(task.job.camera.columns) * std::size_t(task.job.camera.rows);
  const auto count = std::size_t(task.job.planes);
  std::vector<double> values(pixels * (task.is_picture ? count : 1));
  for (std::size_t i = 0; i < pixels; ++i) {
    Pixel pixel{};
    for (std::size_t k = 0; k < count; ++k) pixel[k] = planes[k * pixels + i];
    if (task.is_picture) {
      std::ranges::copy(pixel, values.begin() + std::ptrdiff_t(count * i));
    } else {
      values[i] = task.value(pixel);
    }
  }
  return values;
}

}  // namespace thor
