#include "thor/operators/sightlines.hpp"

#include "thor/math/vector.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {
namespace {

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

}  // namespace

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
        "length", &Sightlines::length, Dimension::length, lengths_of_space,
        {.meaning = "of each, also longer than a periodic box, which it enters again; by default to its end",
         .example = "50 Mpc"});
    s.check([](Reader& reader, const Sightlines& o) {
      if (reader.clean("direction") && !(length(o.direction) > 0)) reader.report("direction", "must not be zero");
    });
    return s;
  }();
  return section;
}

}  // namespace thor::config
