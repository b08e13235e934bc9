#include "thor/operators/sightline_list.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/math/vector.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

constexpr double longest_ray = 1e9;  ///< in units of the dataset

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

/// Whether a plane across an axis goes through cells, by the numbers that its rays begin with: the lower
/// face does, the upper one does not.
bool is_among_cells(const GasOutline& gas, const Vector& position, std::size_t k) {
  const double at = position[k] / gas.length - gas.corner[k] / gas.length;
  return at >= 0 && at < gas.sides[k];
}

/// The part of a line that lies in the gas, in cm from `position`; nothing where it misses it.
struct Stretch {
  double from = 0, to = 0;
};
std::optional<Stretch> meeting(const GasOutline& gas, const Vector& position, const Vector& direction) {
  Stretch s{-HUGE_VAL, HUGE_VAL};
  if (gas.is_round) {
    const Vector r = plus(position, times(-1, gas.centre));
    const double b = dot(r, direction), radius = 0.5 * gas.size[0], root = b * b - dot(r, r) + radius * radius;
    if (!(root > 0)) return std::nullopt;
    return Stretch{-b - std::sqrt(root), -b + std::sqrt(root)};
  }
  for (std::size_t k = 0; k < 3; ++k) {
    if (gas.is_infinite[k]) continue;
    const double low = gas.centre[k] - 0.5 * gas.size[k] - position[k], high = low + gas.size[k];
    if (direction[k] == 0) {
      if (gas.has_cells ? !is_among_cells(gas, position, k) : !(low <= 0 && high > 0)) return std::nullopt;
      continue;
    }
    const double a = low / direction[k], b = high / direction[k];
    s.from = std::max(s.from, std::min(a, b)), s.to = std::min(s.to, std::max(a, b));
  }
  return s.to > s.from ? std::optional(s) : std::nullopt;
}

StraightRay ray_of(const GasOutline& gas, const Vector& position, const Vector& direction, double from, double to) {
  StraightRay ray{};
  for (std::size_t k = 0; k < 3; ++k) ray.position[k] = position[k] / gas.length, ray.direction[k] = direction[k];
  ray.from = from / gas.length, ray.to = std::min(to / gas.length, longest_ray);
  return ray;
}

bool enters_again(const config::Sightlines& keys, const GasOutline& gas) { return keys.length && gas.periodic; }

/// Rays that make up a sightline, at most.
double rays_of(const config::Sightlines& keys, const GasOutline& gas, const Vector& direction) {
  double rays = 1;
  for (std::size_t k = 0; k < 3 && enters_again(keys, gas); ++k) {
    if (direction[k] != 0) rays += 1 + std::floor(*keys.length * std::abs(direction[k]) / gas.size[k]);
  }
  return rays;
}

/// Number of rays of all sightlines.
double count_rays(const config::Sightlines& keys, const GasOutline& gas) {
  double rays = 0;
  for (const config::Sightline& one : keys.list) rays += rays_of(keys, gas, unit(one.direction));
  return keys.list.empty() ? keys.count() * rays_of(keys, gas, unit(keys.direction)) : rays;
}

/// Sightlines, one after the other.
class SightlineBuilder {
 public:
  SightlineBuilder(const config::Sightlines& keys, const GasOutline& gas, const std::string& key)
      : keys_(keys), gas_(gas), wraps_(enters_again(keys, gas)), key_(key) {
    const double rays = count_rays(keys, gas), most = double(std::numeric_limits<std::uint32_t>::max());
    if (rays > most) {
      throw Error(
          ExitCode::usage,
          fmt::format(
              "{}: the sightlines enter the box {:.3g} times; expected at most {:.3g}: use fewer or shorter sightlines",
              key, rays, most));
    }
    const auto count = std::size_t(keys.count());
    list.begins.reserve(count), list.directions.reserve(count);
    list.rays.first.reserve(count + 1), list.rays.rays.reserve(std::size_t(rays));
  }
  /// One of a list begins where it is said to.
  void add_listed(std::size_t i) {
    const std::string where = fmt::format("{}.list.{}", key_, i);
    const Vector position = keys_.list[i].position, direction = unit(keys_.list[i].direction);
    require_near(position, where);
    const std::optional<Stretch> meets = meeting(gas_, position, direction);
    const double from = meets ? std::max(meets->from, 0.) : 0, to = shortened(meets ? meets->to : 0);
    if (!wraps_ && !(to > from)) {
      throw Error(ExitCode::usage, where + ": the sightline does not meet the gas" +
                                       (gas_.periodic ? "; in a periodic box it enters again if it has a length "
                                                        "(sightlines.length)"
                                                      : "; change its position or direction"));
    }
    add(position, direction, {from, to}, where);
  }
  /// One that is only known by a point begins where it enters the gas.
  void add_through(Vector position, const Vector& direction) {
    require_near(position, key_);
    const std::optional<Stretch> meets = meeting(gas_, position, direction);
    if (meets) position = plus(position, times(meets->from, direction));
    const double to = shortened(meets ? meets->to - meets->from : 0);
    if (!wraps_ && !(to > 0)) ++list.missed;
    add(position, direction, {0, to}, key_);
  }

  SightlineList list{};

 private:
  double shortened(double to) const { return keys_.length ? std::min(to, *keys_.length) : to; }
  void require_near(const Vector& position, const std::string& where) const {
    stop_if_interrupted();
    const double far = length(plus(position, times(-1, gas_.centre))) / gas_.length;
    if (wraps_ || far < longest_ray) return;
    throw Error(ExitCode::usage,
                fmt::format("{}.position: it is {:.3g} {} from the gas, and rays are followed over {:g}: begin nearer",
                            where, far, gas_.has_cells ? "cells" : "times its size", longest_ray));
  }
  void add(const Vector& position, const Vector& direction, const Stretch& part, const std::string& where) {
    if (!wraps_ && part.to - part.from > longest_ray * gas_.length) {
      throw Error(ExitCode::usage, where + ": the sightline never leaves the gas: give sightlines.length");
    }
    list.begins.push_back(position), list.directions.push_back(direction);
    if (wraps_) {
      add_images(gas_, position, direction, 0, *keys_.length, list.rays);
      list.longest = std::max(list.longest, *keys_.length);
    } else if (part.to > part.from) {
      list.rays.rays.push_back(ray_of(gas_, position, direction, part.from, part.to));
      list.longest = std::max(list.longest, part.to);
    }
    list.rays.first.push_back(std::uint32_t(list.rays.rays.size()));
  }

  const config::Sightlines& keys_;
  const GasOutline& gas_;
  const bool wraps_;
  const std::string& key_;
};

}  // namespace

double bytes_of_sightlines(const config::Sightlines& keys, const GasOutline& gas) {
  constexpr double places = 4. * sizeof(Vector);  // begin and direction, and once more when they are written
  return keys.count() * (places + sizeof(std::uint32_t)) + count_rays(keys, gas) * sizeof(StraightRay);
}

double pieces_of(const SightlineRays& rays, std::size_t sightline, const GasOutline& gas) {
  constexpr double of_model = 100;
  double pieces = 0;
  for (std::uint32_t r = rays.first[sightline]; r < rays.first[sightline + 1]; ++r) {
    const StraightRay& ray = rays.rays[r];
    const double faces = std::abs(ray.direction[0]) + std::abs(ray.direction[1]) + std::abs(ray.direction[2]);
    pieces += gas.has_cells ? 4 + faces * (ray.to - ray.from) * gas.cells_per_length : of_model;
  }
  return pieces;
}

void add_images(const GasOutline& gas, Vector position, const Vector& direction, double from, double to,
                SightlineRays& rays) {
  const Vector& size = gas.size;
  for (std::size_t k = 0; k < 3; ++k) {  // it begins in the box
    const double low = gas.corner[k];
    position[k] -= size[k] * std::floor((position[k] + from * direction[k] - low) / size[k]);
    // What rounding leaves at the upper face.
    if (direction[k] == 0 && !is_among_cells(gas, position, k)) position[k] = low;
  }
  for (double t = from; t < to;) {  // through a face, and in again through the opposite one
    stop_if_interrupted();
    double leaves = HUGE_VAL;
    std::size_t through = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (direction[k] == 0) continue;
      const double face = gas.centre[k] + (direction[k] > 0 ? 0.5 : -0.5) * size[k];
      const double at = (face - position[k]) / direction[k];
      if (at < leaves) leaves = at, through = k;
    }
    if (leaves > t) rays.rays.push_back(ray_of(gas, position, direction, t, std::min(leaves, to)));
    t = std::max(t, leaves);
    position[through] -= (direction[through] > 0 ? 1 : -1) * size[through];
  }
}

SightlineRays part_of(const SightlineRays& all, std::size_t first, std::size_t end) {
  SightlineRays rays;
  rays.rays.assign(all.rays.begin() + all.first[first], all.rays.begin() + all.first[end]);
  for (std::size_t i = first; i < end; ++i) rays.first.push_back(all.first[i + 1] - all.first[first]);
  return rays;
}

SightlineList build_sightlines(const config::Sightlines& keys, const GasOutline& gas, std::uint64_t seed,
                               const std::string& key) {
  SightlineBuilder builder(keys, gas, key);
  for (std::size_t i = 0; i < keys.list.size(); ++i) builder.add_listed(i);
  if (!keys.list.empty()) return std::move(builder.list);
  const Vector forward = unit(keys.direction);
  const Across across(forward);
  double half[2] = {0, 0};  // of the rectangle that the gas is seen in
  for (std::size_t k = 0; k < 3; ++k) {
    half[0] += 0.5 * gas.size[k] * std::abs(across.right[k]), half[1] += 0.5 * gas.size[k] * std::abs(across.up[k]);
  }
  const auto at = [&](double u, double v) {
    return plus(gas.centre, plus(times(u * half[0], across.right), times(v * half[1], across.up)));
  };
  for (std::uint64_t i = 0; i < keys.random; ++i) {
    Vector position{};
    for (std::uint64_t attempt = 0; attempt < 10'000; ++attempt) {
      position = at(2 * uniform_of(seed, i, 2 * attempt) - 1, 2 * uniform_of(seed, i, 2 * attempt + 1) - 1);
      if (meeting(gas, position, forward)) break;
    }
    builder.add_through(position, forward);
  }
  for (std::uint64_t j = 0; j < keys.grid; ++j) {
    for (std::uint64_t i = 0; i < keys.grid; ++i) {
      const double n = double(keys.grid);
      builder.add_through(at((2 * double(i) + 1) / n - 1, (2 * double(j) + 1) / n - 1), forward);
    }
  }
  if (builder.list.missed == builder.list.begins.size()) {
    throw Error(ExitCode::usage, key + ": no sightline meets the gas");
  }
  return std::move(builder.list);
}

}  // namespace thor
