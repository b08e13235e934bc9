#include "thor/operators/camera_keys.hpp"

#include <algorithm>
#include <cmath>

#include "thor/math/vector.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {
namespace {

const Section<CameraPath>& path_section() {
  static const Section<CameraPath> section = [] {
    Section<CameraPath> s("Path of a camera; its frames are written as numbered pictures.");
    s.choice(
        "type", &CameraPath::type,
        std::vector<Option<PathType>>{{"rotate", PathType::rotate, "around the centre, about the upward direction"},
                                      {"zoom", PathType::zoom, "to another width, by the same factor in every frame"},
                                      {"fly", PathType::fly, "on a straight line to another position"}},
        {.meaning = "kind of motion", .example = "rotate"});
    s.integer("frames", &CameraPath::frames, 2, 100'000, {.meaning = "number of pictures", .example = "120"});
    s.quantity("angle", &CameraPath::angle, Dimension::angle, {.low = -1e3, .high = 1e3},
               {.meaning = "angle of the whole path; a full turn ends one frame before the first",
                .fallback = "360 deg",
                .when = {"type", {"rotate"}}});
    s.quantity("width", &CameraPath::width, Dimension::length, lengths_of_space,
               {.meaning = "width of the last frame", .example = "1 kpc", .when = {"type", {"zoom"}}});
    s.vector("to", &CameraPath::to, Dimension::length, anything,
             {.meaning = "position of the camera in the last frame (orthographic: its centre)",
              .example = "[0 kpc, 0 kpc, 5 kpc]",
              .when = {"type", {"fly"}}});
    return s;
  }();
  return section;
}

}  // namespace

const Section<Camera>& camera_section() {
  static const Section<Camera> section = [] {
    Section<Camera> s(
        "A view of the gas for the images of operators: from where, how wide, and with how many pixels. Seen from "
        "[0, 0, 1], x is to the right and y upwards.");
    declare_name(s, "face");
    s.choice("type", &Camera::type,
             std::vector<Option<CameraType>>{
                 {"orthographic", CameraType::orthographic, "parallel rays, as from far away"},
                 {"perspective", CameraType::perspective, "from a position, with a field of view"},
                 {"equirectangular", CameraType::equirectangular, "from a position, in all directions"}},
             {.meaning = "kind of camera", .fallback = "orthographic"});
    s.vector("direction", &Camera::direction, Dimension::none, anything,
             {.meaning = "direction from the gas to the camera; the length of the vector does not matter",
              .example = "[0, 0, 1]",
              .when = {"type", {"orthographic"}}});
    s.vector("position", &Camera::position, Dimension::length, anything,
             {.meaning = "position of the camera, which looks towards `centre`",
              .example = "[0 kpc, -50 kpc, 20 kpc]",
              .when = {"type", {"perspective", "equirectangular"}}});
    s.vector(
        "up", &Camera::up, Dimension::none, anything,
        {.meaning =
             "upward direction in the image, projected on the sky; if parallel to the line of sight, z or y is used",
         .fallback = "[0, 1, 0]"});
    s.vector("centre", [](Camera & c) -> auto& { return c.centre.emplace(); }, Dimension::length, anything,
             {.meaning = "point in the middle of the image; by default the centre of the gas",
              .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
    s.quantity("width", &Camera::width, Dimension::length, lengths_of_space,
               {.meaning = "width of the image", .example = "60 kpc", .when = {"type", {"orthographic"}}});
    s.quantity("field_of_view", &Camera::field_of_view, Dimension::angle, {.low = 1e-6, .high = 3.1},
               {.meaning = "angle from the left to the right edge of the image",
                .fallback = "60 deg",
                .when = {"type", {"perspective"}}});
    s.integer("pixels", &Camera::pixels, 1, 65536, {.meaning = "columns of the image", .example = "512"});
    s.integer(
        "rows", &Camera::rows, 0, 65536,
        {.meaning = "rows of the image; 0: as many as columns (half as many with equirectangular)", .fallback = "0"});
    s.optional_quantity(
        "depth", &Camera::depth, Dimension::length, lengths_of_space,
        {.meaning = "depth of the slab around the centre that is integrated; by default all; not for slices",
         .example = "5 kpc",
         .when = {"type", {"orthographic"}}});
    s.map("path", &Camera::path, path_section(),
          {.meaning = "path of the camera, for a movie; by default it is at rest"});
    s.check([](Reader& reader, Camera& c) {
      if (!reader.has("centre")) c.centre.reset(), reader.omit("centre");
      if (c.rows == 0)
        c.rows = c.type == CameraType::equirectangular ? std::max<std::uint64_t>(c.pixels / 2, 1) : c.pixels;
      if (!reader.clean("up") || !reader.clean("direction")) return;
      if (!(length(c.up) > 0)) return reader.report("up", "must not be zero");
      if (c.type != CameraType::orthographic) return;
      if (!(length(c.direction) > 0)) reader.report("direction", "must not be zero");
    });
    return s;
  }();
  return section;
}

}  // namespace thor::config
