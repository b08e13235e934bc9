#include "thor/outputs/observer.hpp"

#include <cmath>

#include "thor/config/section.hpp"

namespace thor {
namespace {

using Vector = std::array<double, 3>;

double length(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }
Vector unit(const Vector& a) { return {a[0] / length(a), a[1] / length(a), a[2] / length(a)}; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

namespace config {

const Section<Observer>& observer_section() {
  static const Section<Observer> section = [] {
    Section<Observer> s("Observers far away. Outputs name the one that they belong to.");
    s.text("name", &Observer::name, "a name", [](const std::string& name) { return !name.empty(); },
           {.meaning = "name of the observer, for outputs", .example = "face"});
    s.vector("direction", &Observer::direction, Dimension::none, anything,
             {.meaning = "from the object to the observer; its length does not matter", .example = "[0, 0, 1]"});
    s.vector("up", &Observer::up, Dimension::none, anything,
             {.meaning = "upward in images, as far as it lies across the line of sight", .fallback = "[0, 1, 0]"});
    s.check([](Reader& reader, const Observer& o) {
      if (!reader.clean("direction") || !reader.clean("up")) return;
      if (!(length(o.direction) > 0)) return reader.report("direction", "must not be zero");
      if (!(length(o.up) > 0)) return reader.report("up", "must not be zero");
      if (length(cross(unit(o.direction), unit(o.up))) < 1e-3) {
        reader.report("up", "is along the line of sight: choose another direction, such as [0, 0, 1]");
      }
    });
    return s;
  }();
  return section;
}

const Section<Peel>& peel_section() {
  static const Section<Peel> section = [] {
    Section<Peel> s("How the light towards observers is followed.");
    s.number("cut", &Peel::cut, {.low = 1, .high = 80},
             {.meaning = "optical depth at which a ray ends: its light, less than e^-cut of what it was, is left out",
              .fallback = "30"});
    s.number("roulette", &Peel::roulette, {.low = 0, .high = 80},
             {.meaning = "optical depth from which rays end at random, and those that go on keep the light they have: "
                         "less work, the same mean; `cut` or more is none",
              .fallback = "3"});
    return s;
  }();
  return section;
}

}  // namespace config

SkyFrame sky_of(const std::vector<config::Observer>& observers, const std::string& name, double size) {
  SkyFrame sky;
  sky.size = size;
  for (std::size_t i = 0; i < observers.size(); ++i) {
    if (observers[i].name != name) continue;
    sky.observer = int(i);
    const Vector towards = unit(observers[i].direction), right = unit(cross(observers[i].up, towards));
    const Vector up = cross(towards, right);
    for (std::size_t k = 0; k < 3; ++k) sky.towards[k] = towards[k], sky.right[k] = right[k], sky.up[k] = up[k];
  }
  return sky;
}

}  // namespace thor
