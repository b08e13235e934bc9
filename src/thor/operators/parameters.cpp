#include "thor/operators/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/config/section.hpp"
#include "thor/core/constants.hpp"
#include "thor/operators/colour_maps.hpp"

namespace thor::config {
namespace {

using Vector = std::array<double, 3>;

double length(const Vector& v) { return std::hypot(v[0], v[1], v[2]); }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

constexpr Bounds lengths{.low = 1e-10, .high = 1e32};

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

template <class T>
void declare_name(Section<T>& s, const char* example) {
  s.text("name", &T::name, "a name of at most 100 letters, digits, _ and -", is_name,
         {.meaning = "name in the result file; no two share one", .example = example});
}
template <class T>
void declare_camera(Section<T>& s) {
  s.text("camera", &T::camera, "the name of a camera", [](const std::string& name) { return !name.empty(); },
         {.meaning = "one of `cameras`", .example = "face"});
}
bool is_product(const std::string& text) { return !factors_of(text).empty(); }

template <class T, class Field>
void declare_field(Section<T>& s, Field field, const char* example) {
  s.text("field", field, "a field, or a product such as density * metallicity", is_product,
         {.meaning = "an array of the grid, `velocity` (along the ray, away from the camera), or a product of these",
          .example = example});
}

const Section<CameraPath>& path_section() {
  static const Section<CameraPath> section = [] {
    Section<CameraPath> s("The way of a camera, in frames that are written as numbered pictures.");
    s.choice(
        "type", &CameraPath::type,
        std::vector<Option<PathType>>{{"rotate", PathType::rotate, "around the centre, about the upward direction"},
                                      {"zoom", PathType::zoom, "to another width, or field of view, at an even pace"},
                                      {"fly", PathType::fly, "on a straight line to another place"}},
        {.meaning = "how it moves", .example = "rotate"});
    s.integer("frames", &CameraPath::frames, 2, 100'000, {.meaning = "number of pictures", .example = "120"});
    s.quantity("angle", &CameraPath::angle, Dimension::angle, {.low = -1e3, .high = 1e3},
               {.meaning = "of the whole way; of a full turn the last frame is one before the first",
                .fallback = "360 deg",
                .when = {"type", {"rotate"}}});
    s.quantity("width", &CameraPath::width, Dimension::length, lengths,
               {.meaning = "of the last frame", .example = "1 kpc", .when = {"type", {"zoom"}}});
    s.vector("to", &CameraPath::to, Dimension::length, anything,
             {.meaning = "position of a camera with a place, or centre, in the last frame",
              .example = "[0 kpc, 0 kpc, 5 kpc]",
              .when = {"type", {"fly"}}});
    return s;
  }();
  return section;
}

const Section<Sightline>& sightline_section() {
  static const Section<Sightline> section = [] {
    Section<Sightline> s("One sightline.");
    s.vector("position", &Sightline::position, Dimension::length, anything,
             {.meaning = "where it begins, or a point outside before it", .example = "[0 kpc, 0 kpc, -30 kpc]"});
    s.vector("direction", &Sightline::direction, Dimension::none, anything,
             {.meaning = "away from the observer; its length does not matter", .example = "[0, 0, 1]"});
    s.check([](Reader& reader, const Sightline& o) {
      if (reader.clean("direction") && !(length(o.direction) > 0)) reader.report("direction", "must not be zero");
    });
    return s;
  }();
  return section;
}

const Section<Sightlines>& sightlines_section() {
  static const Section<Sightlines> section = [] {
    Section<Sightlines> s("Rays through the gas: random ones, a regular grid, or a list.");
    s.integer("random", &Sightlines::random, 1, 100'000'000,
              {.meaning = "number of parallel ones at random places, by the `seed`", .example = "100"});
    s.integer("grid", &Sightlines::grid, 1, 10'000,
              {.meaning = "as many along each side of a square, parallel and at equal distances: tomography",
               .example = "32"});
    s.list("list", &Sightlines::list, sightline_section(), {.meaning = "each by itself"});
    s.exactly_one({"random", "grid", "list"});
    s.vector("direction", &Sightlines::direction, Dimension::none, anything,
             {.meaning = "of random ones and of a grid, away from the observer: velocities count along it",
              .fallback = "[0, 0, 1]"});
    s.optional_quantity(
        "length", &Sightlines::length, Dimension::length, lengths,
        {.meaning = "of each, also longer than a periodic box, which it enters again; by default to its end",
         .example = "50 Mpc"});
    s.check([](Reader& reader, const Sightlines& o) {
      if (reader.clean("direction") && !(length(o.direction) > 0)) reader.report("direction", "must not be zero");
    });
    return s;
  }();
  return section;
}

Section<TransferPoint> transfer_points(bool peaks) {
  Section<TransferPoint> s(peaks ? "A Gaussian peak of a transfer function." : "A point of a transfer function.");
  s.number("at", &TransferPoint::at, anything, {.meaning = "value of the field", .example = "2e4"});
  if (peaks) {
    s.number(
        "width", &TransferPoint::width, positive,
        {.meaning = "standard deviation: in dex with `scale: log`, else in the unit of the field", .example = "0.2"});
  }
  s.vector("colour", &TransferPoint::colour, Dimension::none, {.low = 0, .high = 1},
           {.meaning = "red, green and blue, from 0 to 1", .example = "[0.2, 0.4, 1]"});
  s.number("opacity", &TransferPoint::opacity, {.low = 0, .high = 1e9},
           {.meaning = "optical depth of a path as long as the longest side of the box", .example = "10"});
  return s;
}
const Section<TransferPoint>& peak_section() {
  static const Section<TransferPoint> section = transfer_points(true);
  return section;
}
const Section<TransferPoint>& point_section() {
  static const Section<TransferPoint> section = transfer_points(false);
  return section;
}

const Section<Transfer>& transfer_section() {
  static const Section<Transfer> section = [] {
    Section<Transfer> s("Colour and opacity as functions of a field: by a colour map, by peaks, or by points.");
    s.choice("scale", &Transfer::scale,
             std::vector<Option<FieldScale>>{{"log", FieldScale::log, "of its logarithm"},
                                             {"linear", FieldScale::linear, "of its value"}},
             {.meaning = "of the field", .fallback = "log"});
    s.interval(
        "range", [](Transfer& t, double low, double high, Dimension) { t.low = low, t.high = high; }, {Dimension::none},
        anything,
        {.meaning = "of the field, in its unit; what is beyond has the colour of the end", .example = "[1e3, 1e7]"});
    s.text(
        "map", &Transfer::map, "a colour map: " + colour_map_names(),
        [](const std::string& name) { return name.empty() || has_colour_map(name); },
        {.meaning = "colours by name, with an opacity that rises with the square of the place: " + colour_map_names(),
         .fallback = ""});
    s.number(
        "opacity", &Transfer::opacity, {.low = 0, .high = 1e9},
        {.meaning = "of a colour map at its upper end: optical depth of a path as long as the box", .fallback = "30"});
    s.list("peaks", &Transfer::peaks, peak_section(), {.meaning = "Gaussian peaks, which add up", .fallback = "[]"});
    s.list("points", &Transfer::points, point_section(),
           {.meaning = "points between which colour and opacity are on straight lines", .fallback = "[]"});
    s.check([](Reader& reader, const Transfer& t) {
      const int ways = int(!t.map.empty()) + int(!t.peaks.empty()) + int(!t.points.empty());
      if (ways != 1 && reader.clean("map")) reader.report("", "give exactly one of map, peaks and points");
      if (t.scale == FieldScale::log && reader.clean("range") && !(t.low > 0)) {
        reader.report("range", "must be above 0 on a logarithmic scale");
      }
      for (std::size_t i = 1; i < t.points.size(); ++i) {
        if (!(t.points[i].at > t.points[i - 1].at)) reader.report(fmt::format("points.{}.at", i), "must increase");
      }
    });
    return s;
  }();
  return section;
}

void declare_layer(auto& s, auto of_layer) {
  declare_field(s, of_layer(&RenderLayerKeys::field), "temperature");
  s.text("brightness", of_layer(&RenderLayerKeys::brightness), "a field, or a product",
         [](const std::string& text) { return text.empty() || is_product(text); },
         {.meaning =
              "colours are multiplied by this field, over its mean; by default they are as the transfer function says",
          .fallback = ""});
  s.map("transfer", of_layer(&RenderLayerKeys::transfer), transfer_section(), {.meaning = "colour and opacity"});
}

const Section<RenderLayerKeys>& layer_section() {
  static const Section<RenderLayerKeys> section = [] {
    Section<RenderLayerKeys> s("One more field, whose light and opacity are added.");
    declare_layer(s, [](auto member) { return member; });
    return s;
  }();
  return section;
}

template <class T>
void declare_samples(Section<T>& s) {
  s.integer("samples", &T::samples, 1, 16,
            {.meaning = "rays of a pixel are samples x samples, at equal distances", .fallback = "1"});
}

}  // namespace

const Section<Camera>& camera_section() {
  static const Section<Camera> section = [] {
    Section<Camera> s("Somebody who takes pictures. Images have x to the right and y upwards as seen from [0, 0, 1].");
    declare_name(s, "face");
    s.choice("type", &Camera::type,
             std::vector<Option<CameraType>>{
                 {"orthographic", CameraType::orthographic, "from far away: parallel rays"},
                 {"perspective", CameraType::perspective, "from a place, with a field of view"},
                 {"equirectangular", CameraType::equirectangular, "from a place, into all directions"}},
             {.meaning = "kind of camera", .fallback = "orthographic"});
    s.vector("direction", &Camera::direction, Dimension::none, anything,
             {.meaning = "from what is seen to the camera, as that to an observer; its length does not matter",
              .example = "[0, 0, 1]",
              .when = {"type", {"orthographic"}}});
    s.vector("position", &Camera::position, Dimension::length, anything,
             {.meaning = "where the camera is; it looks towards `centre`",
              .example = "[0 kpc, -50 kpc, 20 kpc]",
              .when = {"type", {"perspective", "equirectangular"}}});
    s.vector("up", &Camera::up, Dimension::none, anything,
             {.meaning = "upward in the image, as far as it lies across the line of sight", .fallback = "[0, 1, 0]"});
    s.vector("centre", [](Camera & c) -> auto& { return c.centre.emplace(); }, Dimension::length, anything,
             {.meaning = "point in the middle of the image; by default that of the gas",
              .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
    s.quantity("width", &Camera::width, Dimension::length, lengths,
               {.meaning = "of the image", .example = "60 kpc", .when = {"type", {"orthographic"}}});
    s.quantity("field_of_view", &Camera::field_of_view, Dimension::angle, {.low = 1e-6, .high = 3.1},
               {.meaning = "from left to right", .fallback = "60 deg", .when = {"type", {"perspective"}}});
    s.integer("pixels", &Camera::pixels, 1, 65536, {.meaning = "columns of the image", .example = "512"});
    s.integer(
        "rows", &Camera::rows, 0, 65536,
        {.meaning = "rows of the image; 0: as many as columns (half as many with equirectangular)", .fallback = "0"});
    s.optional_quantity("depth", &Camera::depth, Dimension::length, lengths,
                        {.meaning = "what is seen lies within a slab of this depth around the centre; by default all",
                         .example = "5 kpc",
                         .when = {"type", {"orthographic"}}});
    s.map("path", &Camera::path, path_section(), {.meaning = "way of the camera, for a movie; by default it stands"});
    s.check([](Reader& reader, Camera& c) {
      if (!reader.has("centre")) c.centre.reset(), reader.omit("centre");
      if (c.rows == 0)
        c.rows = c.type == CameraType::equirectangular ? std::max<std::uint64_t>(c.pixels / 2, 1) : c.pixels;
      if (!reader.clean("up") || !reader.clean("direction")) return;
      if (!(length(c.up) > 0)) return reader.report("up", "must not be zero");
      if (c.type != CameraType::orthographic) return;
      if (!(length(c.direction) > 0)) return reader.report("direction", "must not be zero");
      if (!(length(cross(c.up, c.direction)) > 1e-6 * length(c.up) * length(c.direction))) {
        const bool along_z = std::abs(c.direction[2]) > 0.9 * length(c.direction);
        reader.report("up", fmt::format("is parallel to the direction: choose another, such as {}",
                                        along_z ? "[0, 1, 0]" : "[0, 0, 1]"));
      }
    });
    return s;
  }();
  return section;
}

const Section<SliceOperator>& SliceOperator::section() {
  static const Section<SliceOperator> section = [] {
    Section<SliceOperator> s("");
    declare_name(s, "cut");
    declare_camera(s);
    declare_field(s, &SliceOperator::field, "temperature");
    s.quantity("offset", &SliceOperator::offset, Dimension::length, anything,
               {.meaning = "of the plane, which is across the line of sight, from the centre towards the camera",
                .fallback = "0 kpc"});
    return s;
  }();
  return section;
}

const Section<ProjectionOperator>& ProjectionOperator::section() {
  static const Section<ProjectionOperator> section = [] {
    Section<ProjectionOperator> s("");
    declare_name(s, "column");
    declare_camera(s);
    declare_field(s, &ProjectionOperator::field, "HI_density");
    s.text("weight", &ProjectionOperator::weight, "a field, or a product",
           [](const std::string& text) { return text.empty() || is_product(text); },
           {.meaning = "a field; the result is then the mean ∫q w ds/∫w ds, else ∫q ds", .fallback = ""});
    declare_samples(s);
    return s;
  }();
  return section;
}

const Section<RenderOperator>& RenderOperator::section() {
  static const Section<RenderOperator> section = [] {
    Section<RenderOperator> s("");
    declare_name(s, "view");
    declare_camera(s);
    declare_layer(s, [](auto member) {
      return [member](RenderOperator & o) -> auto& { return o.layer.*member; };
    });
    s.list("layers", &RenderOperator::layers, layer_section(), {.meaning = "up to 3 more fields", .fallback = "[]"});
    declare_samples(s);
    s.number("stop", &RenderOperator::stop, {.low = 0, .high = 0.5},
             {.meaning = "a ray ends where less than this of the light behind comes through", .fallback = "0.001"});
    s.number("exposure", &RenderOperator::exposure, positive,
             {.meaning = "factor of the brightness of the picture", .fallback = "1"});
    s.check([](Reader& reader, const RenderOperator& o) {
      if (o.layers.size() > most_layers - 1) reader.report("layers", "at most 3 more are possible");
    });
    return s;
  }();
  return section;
}

const Section<AbsorptionOperator>& AbsorptionOperator::section() {
  static const Section<AbsorptionOperator> section = [] {
    Section<AbsorptionOperator> s("");
    declare_name(s, "forest");
    s.text("line", &AbsorptionOperator::line, "the name of a line",
           [](const std::string& name) { return !name.empty(); },
           {.meaning = "one of `thor lines`, with all its transitions", .example = "Lya"});
    s.text("density_field", &AbsorptionOperator::density_field, "the name of an array",
           [](const std::string&) { return true; },
           {.meaning = "number density of the absorber; by default that of the line's ion, as in `HI_density`",
            .fallback = ""});
    s.map("sightlines", &AbsorptionOperator::sightlines, sightlines_section(), {.meaning = "where it is seen"});
    s.choice(
        "axis", &AbsorptionOperator::axis,
        std::vector<Option<AbsorptionAxis>>{
            {"velocity", AbsorptionAxis::velocity, "c ln(λ/λ₀), in which v + H s adds up; positive to the red"},
            {"wavelength", AbsorptionAxis::wavelength, "in vacuum, in the frame of the box, in bins of equal ln λ"}},
        {.meaning = "of the spectrum", .fallback = "velocity"});
    const auto set = [](AbsorptionOperator& o, double low, double high, Dimension) { o.low = low, o.high = high; };
    s.interval("range", set, {Dimension::velocity}, anything,
               {.meaning = "lower and upper end of the axis",
                .example = "[0 km/s, 2000 km/s]",
                .when = {"axis", {"velocity"}}});
    s.interval("range", set, {Dimension::wavelength}, positive,
               {.meaning = "lower and upper end of the axis",
                .example = "[1215 Angstrom, 1225 Angstrom]",
                .when = {"axis", {"wavelength"}}});
    s.integer("bins", &AbsorptionOperator::bins, 1, 10'000'000, {.meaning = "number of bins", .example = "2000"});
    s.integer("oversampling", &AbsorptionOperator::oversampling, 0, 64,
              {.meaning = "points of a bin, of which the mean is taken; 0: as many as the narrowest line needs",
               .fallback = "0"});
    s.integer(
        "subsampling", &AbsorptionOperator::subsampling, 0, most_pieces,
        {.meaning = "parts of the way through a cell, each with the Hubble flow of its middle; 0: the integral over it",
         .fallback = "0"});
    s.quantity("lsf", &AbsorptionOperator::lsf, Dimension::velocity, non_negative,
               {.meaning = "full width at half maximum of a Gaussian line-spread function, for `observed`; 0: none",
                .fallback = "0 km/s"});
    s.number("signal_to_noise", &AbsorptionOperator::signal_to_noise, {.low = 0, .high = 1e9},
             {.meaning = "of a bin of the continuum, for `observed`: Gaussian noise by the `seed`; 0: none",
              .fallback = "0"});
    s.check([](Reader& reader, const AbsorptionOperator& o) {
      if (reader.clean("range") && reader.clean("bins") && o.bins > 0 &&
          !((o.high - o.low) / double(o.bins) > 1e-12 * std::max(std::abs(o.low), std::abs(o.high)))) {
        reader.report("range", "too narrow for so many bins");
      }
    });
    return s;
  }();
  return section;
}

const Section<TracerOperator>& TracerOperator::section() {
  static const Section<TracerOperator> section = [] {
    Section<TracerOperator> s("");
    declare_name(s, "run");
    s.text("fields", &TracerOperator::fields, "fields or products, with commas between them",
           [](const std::string& text) {
             const auto names = listed(text);
             return !names.empty() && std::ranges::all_of(names, is_product);
           },
           {.meaning = "what is kept, with commas between: `density, temperature, velocity`",
            .example = "density, temperature"});
    s.map("sightlines", &TracerOperator::sightlines, sightlines_section(), {.meaning = "along which"});
    return s;
  }();
  return section;
}

namespace {

template <class... Types>
void declare(Section<std::variant<Types...>>& s) {
  using Any = std::variant<Types...>;
  s.choice("type", [](Any& any) -> Any& { return any; },
           std::vector<Option<Any>>{{Types::type, Types{}, Types::meaning}...},
           {.meaning = "kind of operator", .example = "projection"});
  (s.include(Types::section(), [](Any& any) { return std::get_if<Types>(&any); }, {"type", {Types::type}}), ...);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}
std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(mark, at), text.size());
    parts.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

}  // namespace

const Section<Operator>& operator_section() {
  static const Section<Operator> section = [] {
    Section<Operator> s("What is found along rays: pictures of cameras, and what sightlines show.");
    declare(s);
    return s;
  }();
  return section;
}

std::vector<std::string> factors_of(const std::string& product) {
  std::vector<std::string> factors = split(product, '*');
  const bool good = factors.size() <= 4 && std::ranges::all_of(factors, is_name);
  return good ? factors : std::vector<std::string>{};
}

std::vector<std::string> listed(const std::string& names) {
  std::vector<std::string> list = split(names, ',');
  return list.size() <= 12 && std::ranges::none_of(list, &std::string::empty) ? list : std::vector<std::string>{};
}

}  // namespace thor::config
