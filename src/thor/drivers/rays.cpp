#include "thor/drivers/rays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"
#include "thor/operators/colour_maps.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

using Vector = std::array<double, 3>;
constexpr double unlimited = 1e9;  ///< in units of the dataset

double inner(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Vector& v) { return std::sqrt(inner(v, v)); }
Vector times(double s, const Vector& v) { return {s * v[0], s * v[1], s * v[2]}; }
Vector plus(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector unit(const Vector& v) { return times(1 / length(v), v); }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// Rotates about a unit vector (Rodrigues 1840).
Vector rotated(const Vector& v, const Vector& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return plus(plus(times(c, v), times(s, cross(axis, v))), times((1 - c) * inner(axis, v), axis));
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

/// The part of a line that lies in the gas, in cm from `position`; nothing where it misses it.
struct Stretch {
  double from = 0, to = 0;
};
std::optional<Stretch> meeting(const RayScene& scene, const Vector& position, const Vector& direction) {
  Stretch s{-HUGE_VAL, HUGE_VAL};
  if (scene.is_round()) {
    const Vector r = plus(position, times(-1, scene.centre()));
    const double b = inner(r, direction), radius = 0.5 * scene.size()[0], root = b * b - inner(r, r) + radius * radius;
    if (!(root > 0)) return std::nullopt;
    return Stretch{-b - std::sqrt(root), -b + std::sqrt(root)};
  }
  for (std::size_t k = 0; k < 3; ++k) {
    if (scene.is_infinite(k)) continue;
    const double low = scene.centre()[k] - 0.5 * scene.size()[k] - position[k], high = low + scene.size()[k];
    if (direction[k] == 0) {
      if (!(low <= 0 && high > 0)) return std::nullopt;
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

/// A sightline that leaves the box through a face enters it again through the opposite one.
void add_wrapped(const RayScene& scene, Vector position, const Vector& direction, double most, SightlineRays& rays) {
  const Vector& size = scene.size();
  for (std::size_t k = 0; k < 3; ++k) {  // it begins in the box
    const double low = scene.centre()[k] - 0.5 * size[k];
    position[k] -= size[k] * std::floor((position[k] - low) / size[k]);
  }
  for (double t = 0; t < most;) {
    double leaves = HUGE_VAL;
    std::size_t through = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (direction[k] == 0) continue;
      const double face = scene.centre()[k] + (direction[k] > 0 ? 0.5 : -0.5) * size[k];
      const double at = (face - position[k]) / direction[k];
      if (at < leaves) leaves = at, through = k;
    }
    if (leaves > t) rays.rays.push_back(ray_of(scene, position, direction, t, std::min(leaves, most)));
    t = std::max(t, leaves);
    position[through] -= (direction[through] > 0 ? 1 : -1) * size[through];
  }
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
      throw Error(ExitCode::usage, "camera " + c.name +
                                       ": it is at its centre, and has no direction to look into: give "
                                       "another position or centre");
    }
    forward = unit(to_centre);
  }
  if (!(length(cross(forward, unit(c.up))) > 1e-6)) {
    throw Error(ExitCode::usage,
                "camera " + c.name + ": up is parallel to the direction it looks into: choose another");
  }
  const Vector right = unit(cross(forward, c.up)), up = cross(right, forward);
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

std::vector<float> build_table(const config::Transfer& t, const RayScene& scene, double exposure) {
  const bool log = t.scale == config::FieldScale::log;
  const auto place = [&](double v) {
    return log ? std::log(std::max(v, 1e-300) / t.low) / std::log(t.high / t.low) : (v - t.low) / (t.high - t.low);
  };
  const double side = *std::ranges::max_element(scene.size()) / scene.length();
  std::vector<float> table;
  for (int i = 0; i < colours; ++i) {
    const double at = double(i) / (colours - 1);
    std::array<double, 3> colour{};
    double opacity = 0;
    if (!t.map.empty()) {
      colour = colour_in_map(t.map, at), opacity = t.opacity * at * at;
    } else if (!t.peaks.empty()) {
      for (const config::TransferPoint& peak : t.peaks) {
        const double width =
            log ? peak.width * std::numbers::ln10 / std::log(t.high / t.low) : peak.width / (t.high - t.low);
        const double more = peak.opacity * std::exp(-0.5 * std::pow((at - place(peak.at)) / width, 2));
        opacity += more;
        for (std::size_t k = 0; k < 3; ++k) colour[k] += more * peak.colour[k];
      }
      for (double& c : colour) c /= std::max(opacity, 1e-300);
    } else {
      const auto above = std::ranges::find_if(t.points, [&](const auto& p) { return place(p.at) > at; });
      const config::TransferPoint& high = above == t.points.end() ? t.points.back() : *above;
      const config::TransferPoint& low = above == t.points.begin() ? t.points.front() : *std::prev(above);
      const double width = place(high.at) - place(low.at), share = width > 0 ? (at - place(low.at)) / width : 0;
      opacity = std::lerp(low.opacity, high.opacity, std::clamp(share, 0., 1.));
      for (std::size_t k = 0; k < 3; ++k)
        colour[k] = std::lerp(low.colour[k], high.colour[k], std::clamp(share, 0., 1.));
    }
    for (const double c : colour) table.push_back(float(c * exposure));
    table.push_back(float(opacity / side));
  }
  return table;
}

namespace {

/// Pixels along a side of an image, which has the direction `axis`.
PixelParts divide(const ImageTask& task, const RayScene& scene, const double (&axis)[3], double half, int pixels) {
  const Camera& camera = task.job.camera;
  PixelParts parts{task.samples};
  const bool sums = task.job.kind == ImageKind::projection && camera.type == CameraType::orthographic;
  for (std::size_t k = 0; sums && scene.is_grid() && k < 3; ++k) {
    if (std::abs(axis[(k + 1) % 3]) > 1e-9 || std::abs(axis[(k + 2) % 3]) > 1e-9) continue;
    parts.step = axis[k] * 2 * half / pixels;
    parts.first = camera.position[k] - scene.shape().origin[k] / scene.length() - axis[k] * half;
    parts.most = int(std::ceil(std::abs(parts.step))) + 1;
  }
  return parts;
}

}  // namespace

void look_through(ImageTask& task, const Camera& camera, const RayScene& scene) {
  Camera& c = task.job.camera = camera;
  if (task.job.kind == ImageKind::slice) {
    for (std::size_t k = 0; k < 3; ++k) c.position[k] -= task.offset / scene.length() * c.forward[k];
    c.near = 0, c.far = 1e-9;
  }
  task.job.across = divide(task, scene, c.right, c.half_width, c.columns);
  task.job.up = divide(task, scene, c.up, c.half_height, c.rows);
}

double rays_of(const ImageJob& job) {
  const auto count = [](const PixelParts& parts, int pixels) {
    if (parts.step == 0) return double(parts.most) * pixels;
    double rays = 0;
    for (int p = 0; p < pixels; ++p) {
      for (int i = 0; i < parts.most; ++i) rays += part_of(parts, p, i).share > 0;
    }
    return rays;
  };
  return count(job.across, job.camera.columns) * count(job.up, job.camera.rows);
}

ImageTask plan_image(const config::SliceOperator& op, RayScene& scene) {
  const FieldUse use = scene.use(op.field);
  ImageTask plan;
  plan.job.kind = ImageKind::slice, plan.offset = op.offset;
  plan.job.slice.value = use.quantity;
  plan.unit = use.unit, plan.units = use.units;
  return plan;
}

ImageTask plan_image(const config::ProjectionOperator& op, RayScene& scene) {
  ImageTask plan;
  const FieldUse value = scene.use(op.field);
  plan.job.kind = ImageKind::projection, plan.samples = int(op.samples);
  plan.job.projection.value = value.quantity;
  plan.unit = value.unit, plan.units = value.units;
  if (!op.weight.empty()) {
    const FieldUse weight = scene.use(op.weight);
    plan.job.projection.weight = weight.quantity, plan.weight_unit = weight.unit;
  } else {
    plan.unit *= scene.length();
    plan.units = (io::Unit(value.units) * io::Unit("cm")).text();
  }
  return plan;
}

std::vector<config::RenderLayerKeys> layers_of(const config::RenderOperator& op) {
  std::vector<config::RenderLayerKeys> layers{op.layer};
  layers.insert(layers.end(), op.layers.begin(), op.layers.end());
  return layers;
}

ImageTask plan_image(const config::RenderOperator& op, RayScene& scene, const std::vector<double>& means) {
  ImageTask plan;
  plan.job.kind = ImageKind::render, plan.samples = int(op.samples);
  Render& render = plan.job.render;
  render.stop = float(op.stop);
  for (const config::RenderLayerKeys& keys : layers_of(op)) {
    RenderLayer& layer = render.layer[render.layers];
    layer.table = int(plan.tables.size());
    const std::vector<float> table = build_table(keys.transfer, scene, op.exposure);
    plan.tables.insert(plan.tables.end(), table.begin(), table.end());
    if (!keys.brightness.empty()) {
      layer.brightness = scene.over_mean(keys.brightness, means[std::size_t(render.layers)]).quantity;
    }
    layer.place = scene.place(keys.field, keys.transfer.scale, keys.transfer.low, keys.transfer.high).quantity;
    ++render.layers;
  }
  render.tables = {plan.tables.data(), plan.tables.size()};
  return plan;
}

void set_units(const ImageTask& plan, std::span<double> planes) {
  if (plan.job.kind == ImageKind::render) return;
  const auto pixels = planes.size() / std::size_t(planes_of(plan.job));
  for (double& value : planes.first(pixels)) value *= plan.unit * plan.weight_unit;
  for (double& weight : planes.subspan(pixels)) weight *= plan.weight_unit;
}

std::vector<double> values_of(const ImageTask& plan, std::span<const double> planes) {
  const auto pixels = std::size_t(plan.job.camera.columns) * std::size_t(plan.job.camera.rows);
  const double* const first = planes.data();
  if (plan.job.kind == ImageKind::render) {
    std::vector<double> rgba(4 * pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      for (std::size_t c = 0; c < 4; ++c) rgba[4 * i + c] = first[c * pixels + i];
    }
    return rgba;
  }
  std::vector<double> values(pixels);
  const bool has_weight = planes_of(plan.job) > 1, is_mean = has_weight && plan.job.kind == ImageKind::projection;
  for (std::size_t i = 0; i < pixels; ++i) {
    const double weight = has_weight ? first[pixels + i] : 1;
    values[i] = weight == 0 ? NAN : first[i] / (is_mean ? weight : 1);
  }
  return values;
}

SightlineList build_sightlines(const config::Sightlines& keys, const RayScene& scene, std::uint64_t seed,
                               const std::string& key) {
  const bool wraps = keys.length && scene.is_grid() && scene.shape().periodic;
  SightlineList out;
  const auto add = [&](Vector position, const Vector& direction, bool through, const std::string& where) {
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
    if (!wraps && to > 1e30) {
      throw Error(ExitCode::usage, where + ": the sightline never leaves the gas: give sightlines.length");
    }
    out.begins.push_back(position), out.directions.push_back(direction);
    if (wraps) {
      add_wrapped(scene, position, direction, *keys.length, out.rays);
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

AbsorptionPlan plan_absorption(const config::AbsorptionOperator& op, const Line& line, RayScene& scene, double coldest,
                               double longest, const std::string& key) {
  using constants::c, constants::km;
  AbsorptionPlan plan;
  Absorption& a = plan.absorption;
  const RayScene::Absorber ion = scene.absorber(line, op.density_field);
  a.density = ion.density.quantity, a.density_unit = ion.density.unit;
  a.temperature = ion.temperature.quantity, a.temperature_unit = ion.temperature.unit;
  a.velocity = ion.velocity.quantity, a.velocity_unit = ion.velocity.unit;
  a.length = scene.length();
  a.hubble = scene.is_grid() ? scene.shape().hubble * scene.length() : 0;
  a.b_turb2 = scene.b_turb() * scene.b_turb();
  const AtomicTransition& first = line.first();
  plan.wavelength0 = first.wavelength;
  double narrowest = HUGE_VAL, largest_a = 0, reddest = -HUGE_VAL, bluest = HUGE_VAL;
  for (const AtomicTransition* t : line.absorbing()) {
    const double b = t->thermal_speed(coldest, scene.b_turb());
    narrowest = std::min(narrowest, b), largest_a = std::max(largest_a, t->voigt_parameter(b));
    const double shift = c * std::log(t->wavelength / first.wavelength);
    reddest = std::max(reddest, shift), bluest = std::min(bluest, shift);
    a.transition[a.transitions++] = {shift, t->cross_section(1) * t->population, t->voigt_parameter(1),
                                     std::pow(t->thermal_speed(1, 0), 2)};
  }
  if (largest_a > 0.2) {
    throw Error(ExitCode::input, fmt::format("{}: gas of {:.2g} K has a Voigt parameter of {:.2g} in line {}; the "
                                             "profile is good up to 0.2: give the gas a dataset.b_turb",
                                             key, coldest, largest_a, line.name));
  }
  const bool in_velocity = op.axis == config::AbsorptionAxis::velocity;
  const double low = in_velocity ? op.low : c * std::log(op.low / first.wavelength);
  const double high = in_velocity ? op.high : c * std::log(op.high / first.wavelength);
  // Gas absorbs between these; damping wings may reach some thousand km/s beyond.
  constexpr double wings = 5e3;
  const double flow = (scene.is_grid() ? scene.shape().hubble : 0) * longest;
  if (high < bluest - wings * km || low > reddest + flow + wings * km) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}.range: line {} absorbs from {:.5g} to {:.5g} km/s ({:.6g} to {:.6g} Angstrom) along these "
                    "sightlines, which lies more than {:.0f} km/s beyond this range",
                    key, line.name, bluest / km, (reddest + flow) / km,
                    first.wavelength * std::exp(bluest / c) / constants::angstrom,
                    first.wavelength * std::exp((reddest + flow) / c) / constants::angstrom, wings));
  }
  const double width = (high - low) / double(op.bins);
  plan.oversampling = int(op.oversampling);
  if (plan.oversampling == 0) {
    const double asked = std::ceil(1.2 * width / narrowest);
    plan.oversampling = int(std::clamp(asked, 1., 64.));
    if (asked > 64) {
      warning(
          "{}: bins of {:.3g} km/s are {:.0f} times as wide as the narrowest line, that of gas with {:.2g} K: 64 "
          "points of a bin do not resolve it. Take more bins",
          key, width / km, width / narrowest, coldest);
    }
  }
  a.bins = int(op.bins) * plan.oversampling;
  a.width = width / plan.oversampling;
  a.first = low + 0.5 * a.width;
  a.pieces = int(op.subsampling);
  for (std::uint64_t i = 0; i <= op.bins; ++i) plan.edges.push_back(low + double(i) * width);
  return plan;
}

}  // namespace thor
