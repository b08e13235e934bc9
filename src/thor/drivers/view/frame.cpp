#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "thor/drivers/view/view.hpp"
#include "thor/io/png/png.hpp"
#include "thor/operators/colour_maps.hpp"
#include "thor/operators/keys.hpp"

/// Pictures for `thor view`.
namespace thor {
namespace {

/// What colours stand for.
struct ColourRange {
  bool log = true;
  double low = 0, high = 0;

  /// Between 0 and 1; 0 for what has no place.
  double place(double value) const {
    const double at = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                          : (value / 2 - low / 2) / (high / 2 - low / 2);
    return std::isnan(at) ? 0 : std::clamp(at, 0., 1.);
  }
};

/// The parameters that colour a picture.
struct Colouring {
  std::string map;
  std::string scale;
  bool is_signed;  ///< of a velocity: 0 is in the middle of the range
  std::optional<double> low, high;
  double opacity, exposure;
};

Colouring read_colouring(const ViewStart& start, const std::string& field, ViewQuery& query) {
  std::vector<std::string> maps = config::listed("auto, " + colour_map_names());
  if (start.map == "file") maps.emplace_back("file");
  Colouring c{};
  c.is_signed = std::ranges::any_of(config::factors_of(field), [](const std::string& factor) {
    return factor.find("velocity") != std::string::npos;
  });
  c.map = query.choice("map", start.map, maps);
  c.scale = query.choice("scale", "auto", {"auto", "log", "linear"});
  c.low = query.number("low", -1e300, 1e300), c.high = query.number("high", -1e300, 1e300);
  c.opacity = query.number("opacity", start.transfer.opacity > 0 ? start.transfer.opacity : 10, 0, 1e6);
  c.exposure = query.number("exposure", start.exposure, 1e-3, 1e3);
  return c;
}

/// The name of the colours for a range: those that diverge where it has 0 in its middle.
std::string map_of(const Colouring& colouring, const ColourRange& range) {
  if (colouring.map != "auto") return colouring.map;
  return !range.log && range.low < 0 && range.high > 0 ? diverging_map : "inferno";
}

/// Limits that were given, and others that were found.
ColourRange range_of(const Colouring& colouring, bool log, double low, double high) {
  ColourRange range{log, colouring.low.value_or(low), colouring.high.value_or(high)};
  if (log && ((colouring.low && !(*colouring.low > 0)) || (colouring.high && !(*colouring.high > 0)))) {
    throw Error(ExitCode::usage, "low, high: expected values above 0 for a logarithmic scale");
  }
  if (colouring.low && colouring.high && !(range.high > range.low)) {
    throw Error(ExitCode::usage,
                fmt::format("low, high: expected low < high, got {:g} and {:g}", range.low, range.high));
  }
  if (range.high > range.low) return range;
  // All values are the same, or one limit was given beyond all of them.
  const double step = log ? 0 : std::max(std::abs(range.high), 1e-30);
  if (colouring.high) {
    range.low = log ? range.high / 10 : range.high - step;
  } else {
    range.high = log ? range.low * 10 : range.low + std::max(step, std::abs(range.low));
  }
  return range;
}

/// Limits between which most of the pixels lie.
ColourRange fit(const Colouring& colouring, std::span<const double> values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  const bool some_positive = std::ranges::any_of(finite, [](double v) { return v > 0; });
  const bool none_negative = std::ranges::none_of(finite, [](double v) { return v < 0; });
  const bool is_signed = colouring.is_signed || !none_negative;
  const bool log = colouring.scale == "log" || (colouring.scale == "auto" && some_positive && !is_signed);
  if (log) std::erase_if(finite, [](double v) { return !(v > 0); });
  const auto quantile = [&](double share) {
    if (finite.empty()) return log ? 1. : 0.;
    const auto at = finite.begin() + std::ptrdiff_t(share * double(finite.size() - 1));
    std::ranges::nth_element(finite, at);
    return *at;
  };
  double low = quantile(log ? 0.005 : 0.001), high = quantile(log ? 0.9999 : 0.999);
  if (log) low = std::max(low, 1e-8 * high);
  if (!log && ((low < 0 && high > 0) || colouring.is_signed))
    high = std::max(std::abs(high), std::abs(low)), low = -high;
  return range_of(colouring, log, low, high);
}

/// Red, green and blue of each pixel; those without gas are black.
std::string paint(const Camera& camera, std::span<const double> values, const ColourRange& range,
                  const std::string& map) {
  constexpr int shades = 1024;
  std::vector<io::Colour> palette;
  for (int i = 0; i < shades; ++i) {
    const auto c = colour_in_map(map, double(i) / (shades - 1));
    const auto byte = [](double v) { return std::uint8_t(std::lround(255 * v)); };
    palette.push_back({byte(c[0]), byte(c[1]), byte(c[2])});
  }
  io::Raster raster(camera.columns, camera.rows, {0, 0, 0});
  const auto columns = std::size_t(camera.columns), rows = std::size_t(camera.rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double value = values[(rows - 1 - row) * columns + column];
      if (std::isnan(value)) continue;
      const double at = range.log && !(value > 0) ? 0 : range.place(value);
      raster.pixels[row * columns + column] = palette[std::size_t(std::lround(at * (shades - 1)))];
    }
  }
  return io::encode_png(raster, 1);
}

/// A table over the whole range of a field in which only part of it has a colour: limits, colours and opacity can then
/// change without a look at the cells.
std::vector<float> widen(const std::vector<float>& table, const ColourRange& part, const ColourRange& whole) {
  std::vector<float> out;
  for (int i = 0; i < colours; ++i) {
    const double at = double(i) / (colours - 1);
    const double value =
        whole.log ? whole.low * std::pow(whole.high / whole.low, at) : std::lerp(whole.low, whole.high, at);
    const auto entry = 4 * std::size_t(std::lround(part.place(value) * (colours - 1)));
    for (std::size_t k = 0; k < 4; ++k) out.push_back(table[entry + k]);
  }
  return out;
}

/// Opaque where a value is far from 0, on either side.
std::vector<config::TransferPoint> points_about_zero(const std::string& map, const ColourRange& range, double opacity) {
  constexpr int count = 65;
  std::vector<config::TransferPoint> points;
  for (int i = 0; i < count; ++i) {
    const double at = double(i) / (count - 1);
    const double value = std::lerp(range.low, range.high, at), most = std::max(-range.low, range.high);
    points.push_back({value, 0, colour_in_map(map, at), opacity * std::pow(value / most, 2)});
  }
  return points;
}

struct Painted {
  std::string png, units, map;
  ColourRange range;
};

Painted render(ViewScene& view, const ViewStart& start, const config::Camera& camera, const std::string& field,
               const std::string& brightness, Colouring colouring) {
  if (colouring.map == "file") {  // limits that are given stretch it
    const config::Transfer& t = start.transfer;
    colouring.low = colouring.low.value_or(t.low), colouring.high = colouring.high.value_or(t.high);
    if (colouring.scale == "auto") colouring.scale = t.scale == config::FieldScale::log ? "log" : "linear";
  }
  const ValueRange& values = view.range_of(field);
  RayScene& scene = view.scene();
  const bool log = colouring.scale == "log" ||
                   (colouring.scale == "auto" && values.least >= 0 && values.largest > 0 && !colouring.is_signed);
  if (log && !(values.largest > 0)) {
    throw Error(ExitCode::usage, fmt::format("scale: {} has no value above 0: use a linear scale", field));
  }
  const double least = log ? std::max(values.least_positive, 1e-30 * values.largest) : values.least;
  const ColourRange whole = range_of({}, log, least, values.largest);
  const double top = colouring.is_signed && !log ? std::max(std::abs(values.low), std::abs(values.high)) : values.high;
  const double bottom = colouring.is_signed && !log ? -top : log ? std::max(values.low, least) : values.low;
  Painted out{"", scene.use(field).units, "", range_of(colouring, log, bottom, top)};
  out.map = map_of(colouring, out.range);

  config::Transfer transfer = start.transfer;
  if (colouring.map != "file") {
    transfer = {};
    if (!log && out.range.low < 0 && out.range.high > 0) {
      transfer.points = points_about_zero(out.map, out.range, colouring.opacity);
    } else {
      transfer.map = out.map, transfer.opacity = colouring.opacity;
    }
    transfer.scale = log ? config::FieldScale::log : config::FieldScale::linear;
    transfer.low = out.range.low, transfer.high = out.range.high;
  }
  ImageTask plan;
  plan.is_picture = true;
  Render render{};
  render.stop = 1e-3f, render.layers = 1;
  render.layer[0].place =
      scene.place(field, log ? config::FieldScale::log : config::FieldScale::linear, whole.low, whole.high).quantity;
  if (!brightness.empty()) render.layer[0].brightness = scene.over_mean(brightness).quantity;
  plan.tables = widen(build_table(transfer, scene.outline().longest() / scene.outline().length, colouring.exposure),
                      out.range, whole);
  plan.job.set(render);
  look_through(plan, build_camera(camera, scene.outline()), scene.outline());
  const std::vector<double> rgba = values_of(plan, view.trace(plan));
  out.png = io::encode_png(io::picture_of(plan.job.camera.columns, plan.job.camera.rows, rgba), 1);
  return out;
}

/// Of the mean that a projection is by default. A density (of mass, atoms, light) has none, and is integrated; the
/// integral of a temperature or a velocity means nothing.
std::string usual_weight(const RayScene& scene, const std::string& field) {
  const std::vector<std::string> names = scene.names();
  const auto is_there = [&](const std::string& name) { return std::ranges::count(names, name) > 0; };
  const auto is_density = [&](const std::string& name) {
    return is_there(name) && (name.ends_with("density") || scene.units_of(name).find("-3") != std::string::npos);
  };
  const std::vector<std::string> factors = config::factors_of(field);
  if (factors.empty() || std::ranges::any_of(factors, is_density)) return "";
  const std::string ion = factors.front().substr(0, factors.front().find('_')) + "_density";  // of HI_temperature
  for (const std::string& name : {ion, std::string("density")}) {
    if (is_there(name)) return name;
  }
  const auto any = std::ranges::find_if(names, [&](const auto& name) { return name.ends_with("density"); });
  return any == names.end() ? "" : *any;
}

}  // namespace

io::web::Response view_frame(ViewScene& view, const ViewStart& start, ViewQuery& query) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string kind = query.choice("kind", start.kind, {"render", "projection", "slice"});
  const std::string field = query.text("field", start.field);
  std::string weight = query.text("weight", "auto");
  const config::Camera camera = view_camera(view, start, query);
  const Colouring colouring = read_colouring(start, field, query);
  query.end();
  if (weight == "none" || kind == "slice") weight.clear();
  if (weight == "auto") weight = kind == "projection" ? usual_weight(view.scene(), field) : "";
  Painted painted;
  if (kind == "render") {
    painted = render(view, start, camera, field, weight, colouring);
  } else {
    const Camera built = build_camera(camera, view.scene().outline());
    ImageTask plan = kind == "slice" ? config::SliceOperator{"", "", field}.plan(view.scene())
                                     : config::ProjectionOperator{"", "", field, weight}.plan(view.scene());
    look_through(plan, built, view.scene().outline());
    const std::vector<double> values = values_of(plan, view.trace(plan));
    painted.units = plan.units;
    painted.range = fit(colouring, values);
    painted.map = colouring.map == "file" ? "inferno" : map_of(colouring, painted.range);
    painted.png = paint(built, values, painted.range, painted.map);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  io::web::Response response{200, "image/png", std::move(painted.png)};
  response.headers = {{"X-Thor-Low", fmt::format("{:.8g}", painted.range.low)},
                      {"X-Thor-High", fmt::format("{:.8g}", painted.range.high)},
                      {"X-Thor-Scale", painted.range.log ? "log" : "linear"},
                      {"X-Thor-Units", painted.units},
                      {"X-Thor-Map", painted.map},
                      {"X-Thor-Weight", weight},
                      {"X-Thor-Milliseconds", fmt::format("{:.1f}", 1e3 * seconds)}};
  return response;
}

}  // namespace thor
