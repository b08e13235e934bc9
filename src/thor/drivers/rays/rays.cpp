#include "thor/drivers/rays/rays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/math/vector.hpp"
#include "thor/operators/colour_maps.hpp"
#include "thor/operators/keys.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

constexpr double unlimited = 1e9;  ///< in units of the dataset

Vector times(double s, const Vector& v) { return {s * v[0], s * v[1], s * v[2]}; }
Vector plus(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
/// Rotates about a unit vector (Rodrigues 1840).
Vector rotated(const Vector& v, const Vector& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return plus(plus(times(c, v), times(s, cross(axis, v))), times((1 - c) * dot(axis, v), axis));
}

/// Directions across one.
struct Across {
  Vector right, up;
  explicit Across(const Vector& forward) {
    const Vector hint = std::abs(forward[1]) < 0.9 ? Vector{0, 1, 0} : Vector{0, 0, 1};
    right = unit(cross(forward, hint)), up = cross(right, forward);
  }
};

/// A number between 0 and 1 from a hash.
double uniform_of(std::uint64_t seed, std::uint64_t i, std::uint64_t k) {
  return (double(mix64(mix64(seed ^ 0x7369676874ull) + mix64(i) + k) >> 11) + 0.5) * 0x1p-53;
}

/// Whether a plane across an axis of a grid goes through its cells, by the numbers that its rays begin with: the lower
/// face does, the upper one does not.
bool is_among_cells(const RayScene& scene, const Vector& position, std::size_t k) {
  const double at = position[k] / scene.length() - scene.shape().origin[k] / scene.length();
  return at >= 0 && at < double(scene.shape().count[k]);
}

/// The part of a line that lies in the gas, in cm from `position`; nothing where it misses it.
struct Stretch {
  double from = 0, to = 0;
};
std::optional<Stretch> meeting(const RayScene& scene, const Vector& position, const Vector& direction) {
  Stretch s{-HUGE_VAL, HUGE_VAL};
  if (scene.is_round()) {
    const Vector r = plus(position, times(-1, scene.centre()));
    const double b = dot(r, direction), radius = 0.5 * scene.size()[0], root = b * b - dot(r, r) + radius * radius;
    if (!(root > 0)) return std::nullopt;
    return Stretch{-b - std::sqrt(root), -b + std::sqrt(root)};
  }
  for (std::size_t k = 0; k < 3; ++k) {
    if (scene.is_infinite(k)) continue;
    const double low = scene.centre()[k] - 0.5 * scene.size()[k] - position[k], high = low + scene.size()[k];
    if (direction[k] == 0) {
      if (scene.is_grid() ? !is_among_cells(scene, position, k) : !(low <= 0 && high > 0)) return std::nullopt;
      continue;
    }
    const double a = low / direction[k], b = high / direction[k];
    s.from = std::max(s.from, std::min(a, b)), s.to = std::min(s.to, std::max(a, b));
  }
  return s.to > s.from ? std::optional(s) : std::nullopt;
}

StraightRay ray_of(const RayScene& scene, const Vector& position, const Vector& direction, double from, double to) {
  StraightRay ray{};
  for (std::size_t k = 0; k < 3; ++k) ray.position[k] = position[k] / scene.length(), ray.direction[k] = direction[k];
  ray.from = from / scene.length(), ray.to = std::min(to / scene.length(), unlimited);
  return ray;
}

bool enters_again(const config::Sightlines& keys, const RayScene& scene) {
  return keys.length && scene.is_grid() && scene.shape().periodic;
}

/// Rays that make up a sightline, at most.
double rays_of(const config::Sightlines& keys, const RayScene& scene, const Vector& direction) {
  double rays = 1;
  for (std::size_t k = 0; k < 3 && enters_again(keys, scene); ++k) {
    if (direction[k] != 0) rays += 1 + std::floor(*keys.length * std::abs(direction[k]) / scene.size()[k]);
  }
  return rays;
}

/// Numbers of sightlines and of their rays.
std::pair<double, double> count_sightlines(const config::Sightlines& keys, const RayScene& scene) {
  double rays = 0;
  for (const config::Sightline& one : keys.list) rays += rays_of(keys, scene, unit(one.direction));
  if (!keys.list.empty()) return {keys.count(), rays};
  return {keys.count(), keys.count() * rays_of(keys, scene, unit(keys.direction))};
}

}  // namespace

double progress_of(const config::CameraPath& path, std::uint64_t frame) {
  const bool turn =
      path.type == config::PathType::rotate &&
      std::abs(std::remainder(path.angle, 2 * std::numbers::pi)) < 1e-9;  // the first frame follows the last
  return double(frame) / double(turn ? path.frames : path.frames - 1);
}

Camera build_camera(const config::Camera& c, const RayScene& scene, double progress) {
  using config::PathType;
  Vector centre = c.centre.value_or(scene.centre()), position = c.position, towards = unit(c.direction);
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
    out.position[k] = (parallel ? centre : position)[k] / scene.length();
    out.right[k] = right[k], out.up[k] = up[k], out.forward[k] = forward[k];
  }
  out.half_width = parallel                            ? 0.5 * width / scene.length()
                   : c.type == CameraType::perspective ? std::tan(0.5 * c.field_of_view)
                                                       : 1;
  out.half_height = out.half_width * double(c.rows) / double(c.pixels);
  out.near = parallel ? (c.depth ? -0.5 * *c.depth / scene.length() : -unlimited) : 0;
  out.far = parallel && c.depth ? 0.5 * *c.depth / scene.length() : unlimited;
  return out;
}

void look_through(ImageTask& task, const Camera& camera, const RayScene& scene) {
  Camera& c = task.job.camera = camera;
  task.job.samples = task.samples, task.job.tables = {task.tables.data(), task.tables.size()};
  if (task.plane) {
    for (std::size_t k = 0; k < 3; ++k) c.position[k] -= *task.plane / scene.length() * c.forward[k];
    c.near = 0, c.far = 1e-9;
  }
}

void set_units(const ImageTask& task, std::span<double> planes) {
  const auto count = std::size_t(task.job.planes()), pixels = planes.size() / count;
  for (std::size_t k = 0; k < count; ++k) {
    for (double& number : planes.subspan(k * pixels, pixels)) number *= task.scale[k];
  }
}

std::vector<double> values_of(const ImageTask& task, std::span<const double> planes) {
  const auto pixels = std::size_t(task.job.camera.columns) * std::size_t(task.job.camera.rows);
  const auto count = std::size_t(task.job.planes());
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

double bytes_of_sightlines(const config::Sightlines& keys, const RayScene& scene) {
  const auto [count, rays] = count_sightlines(keys, scene);
  constexpr double places = 4. * sizeof(Vector);  // begin and direction, and once more when they are written
  return count * (places + sizeof(std::uint32_t)) + rays * sizeof(StraightRay);
}

double pieces_of(const SightlineRays& rays, std::size_t sightline, const RayScene& scene) {
  constexpr double of_model = 100;
  double pieces = 0;
  for (std::uint32_t r = rays.first[sightline]; r < rays.first[sightline + 1]; ++r) {
    const StraightRay& ray = rays.rays[r];
    const double faces = std::abs(ray.direction[0]) + std::abs(ray.direction[1]) + std::abs(ray.direction[2]);
    pieces += scene.is_grid() ? 4 + faces * (ray.to - ray.from) : of_model;
  }
  return pieces;
}

void add_images(const RayScene& scene, Vector position, const Vector& direction, double from, double to,
                SightlineRays& rays) {
  const Vector& size = scene.size();
  for (std::size_t k = 0; k < 3; ++k) {  // it begins in the box
    const double low = scene.shape().origin[k];
    position[k] -= size[k] * std::floor((position[k] + from * direction[k] - low) / size[k]);
    // What rounding leaves at the upper face.
    if (direction[k] == 0 && !is_among_cells(scene, position, k)) position[k] = low;
  }
  for (double t = from; t < to;) {  // through a face, and in again through the opposite one
    stop_if_interrupted();
    double leaves = HUGE_VAL;
    std::size_t through = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (direction[k] == 0) continue;
      const double face = scene.centre()[k] + (direction[k] > 0 ? 0.5 : -0.5) * size[k];
      const double at = (face - position[k]) / direction[k];
      if (at < leaves) leaves = at, through = k;
    }
    if (leaves > t) rays.rays.push_back(ray_of(scene, position, direction, t, std::min(leaves, to)));
    t = std::max(t, leaves);
    position[through] -= (direction[through] > 0 ? 1 : -1) * size[through];
  }
}

SightlineList build_sightlines(const config::Sightlines& keys, const RayScene& scene, std::uint64_t seed,
                               const std::string& key) {
  const bool wraps = enters_again(keys, scene);
  SightlineList out;
  const auto [count, rays] = count_sightlines(keys, scene);
  if (rays > double(std::numeric_limits<std::uint32_t>::max())) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "{}: the sightlines enter the box {:.3g} times; expected at most {:.3g}: use fewer or shorter sightlines",
            key, rays, double(std::numeric_limits<std::uint32_t>::max())));
  }
  out.begins.reserve(std::size_t(count)), out.directions.reserve(std::size_t(count));
  out.rays.first.reserve(std::size_t(count) + 1), out.rays.rays.reserve(std::size_t(rays));
  const auto add = [&](Vector position, const Vector& direction, bool through, const std::string& where) {
    stop_if_interrupted();
    if (const double far = length(plus(position, times(-1, scene.centre()))) / scene.length();
        !wraps && !(far < unlimited)) {
      throw Error(
          ExitCode::usage,
          fmt::format("{}.position: it is {:.3g} {} from the gas, and rays are followed over {:g}: begin nearer", where,
                      far, scene.is_grid() ? "cells" : "times its size", unlimited));
    }
    const std::optional<Stretch> meets = meeting(scene, position, direction);
    // One that is only known by a point begins where it enters the gas; one of a list where it is said to.
    if (through && meets) position = plus(position, times(meets->from, direction));
    const double from = through || !meets ? 0 : std::max(meets->from, 0.);
    double to = !meets ? 0 : through ? meets->to - meets->from : meets->to;
    if (keys.length) to = std::min(to, *keys.length);
    if (!wraps && !(to > from)) {
      if (!through) {
        throw Error(ExitCode::usage,
                    where + ": the sightline does not meet the gas" +
                        (scene.is_grid() && scene.shape().periodic
                             ? "; in a periodic box it enters again if it has a length (sightlines.length)"
                             : "; change its position or direction"));
      }
      ++out.missed;
    }
    if (!wraps && to - from > unlimited * scene.length()) {
      throw Error(ExitCode::usage, where + ": the sightline never leaves the gas: give sightlines.length");
    }
    out.begins.push_back(position), out.directions.push_back(direction);
    if (wraps) {
      add_images(scene, position, direction, 0, *keys.length, out.rays);
      out.longest = std::max(out.longest, *keys.length);
    } else if (to > from) {
      out.rays.rays.push_back(ray_of(scene, position, direction, from, to));
      out.longest = std::max(out.longest, to);
    }
    out.rays.first.push_back(std::uint32_t(out.rays.rays.size()));
  };
  for (std::size_t i = 0; i < keys.list.size(); ++i) {
    add(keys.list[i].position, unit(keys.list[i].direction), false, fmt::format("{}.list.{}", key, i));
  }
  if (!keys.list.empty()) return out;
  const Vector forward = unit(keys.direction);
  const Across across(forward);
  double half[2] = {0, 0};  // of the rectangle that the gas is seen in
  for (std::size_t k = 0; k < 3; ++k) {
    half[0] += 0.5 * scene.size()[k] * std::abs(across.right[k]),
        half[1] += 0.5 * scene.size()[k] * std::abs(across.up[k]);
  }
  const auto at = [&](double u, double v) {
    return plus(scene.centre(), plus(times(u * half[0], across.right), times(v * half[1], across.up)));
  };
  for (std::uint64_t i = 0; i < keys.random; ++i) {
    Vector position{};
    for (std::uint64_t attempt = 0; attempt < 10'000; ++attempt) {
      position = at(2 * uniform_of(seed, i, 2 * attempt) - 1, 2 * uniform_of(seed, i, 2 * attempt + 1) - 1);
      if (meeting(scene, position, forward)) break;
    }
    add(position, forward, true, key);
  }
  for (std::uint64_t j = 0; j < keys.grid; ++j) {
    for (std::uint64_t i = 0; i < keys.grid; ++i) {
      const double n = double(keys.grid);
      add(at((2 * double(i) + 1) / n - 1, (2 * double(j) + 1) / n - 1), forward, true, key);
    }
  }
  if (out.missed == out.begins.size()) throw Error(ExitCode::usage, key + ": no sightline meets the gas");
  return out;
}

}  // namespace thor
