#include "thor/outputs/observer.hpp"

#include <algorithm>

#include <cmath>

#include "thor/core/gas_limits.hpp"
#include "thor/math/vector.hpp"
#include "thor/outputs/keys.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

constexpr std::uint64_t most_observers = 3072;

Vector direction_of(double z, double phi) {
  const double sine = std::sqrt(std::max(0., 1 - z * z));
  return {sine * std::cos(phi), sine * std::sin(phi), z};
}

/// Centre of a pixel of HEALPix. Ring i has z and 4 i pixels in the caps, 4 N_side in the belt between them.
Vector healpix_centre(std::int64_t sides, std::int64_t pixel) {
  std::int64_t ring = 1, before = 0;  // pixels of the rings before it
  const auto length_of = [&](std::int64_t i) { return 4 * std::min({i, sides, 4 * sides - i}); };
  while (pixel >= before + length_of(ring)) before += length_of(ring++);
  const auto n = double(sides), i = double(ring), from_pole = double(std::min(ring, 4 * sides - ring));
  const bool cap = from_pole < n;
  const double in_cap = 1 - from_pole * from_pole / (3 * n * n);
  const double z = !cap ? 4. / 3 - 2 * i / (3 * n) : ring < 2 * sides ? in_cap : -in_cap;
  const double shift = cap || (ring - sides) % 2 == 0 ? 0.5 : 0;  // rings of the belt are shifted in turn
  const double phi = 2 * constants::pi / double(length_of(ring)) * (double(pixel - before) + shift);
  return direction_of(z, phi);
}

Vector random_direction(std::uint64_t seed, std::uint64_t stream) {
  const StreamKey key = stream_key(mix64(seed ^ 0x6f62736572766572ull), stream);  // no stream of a photon
  const double turn = uniform<double>(key.word[2]), z = 2 * uniform<double>(key.word[0]) - 1;
  return direction_of(z, 2 * constants::pi * turn);
}

}  // namespace

namespace config {

const Section<Rest>& rest_section() {
  static const Section<Rest> section = [] {
    Section<Rest> s(
        "An object: velocity 0 is light of the line that leaves it at rest "
        "([how](observers.md#the-zero-point-of-velocities)).");
    s.vector("position", &Rest::position, Dimension::length, anything,
             {.meaning = "place of the object", .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
    s.vector("velocity", &Rest::velocity, Dimension::velocity, {.low = -fastest_gas, .high = fastest_gas},
             {.meaning = "its peculiar velocity", .fallback = "[0 km/s, 0 km/s, 0 km/s]"});
    return s;
  }();
  return section;
}

const Section<Observer>& observer_section() {
  static const Section<Observer> section = [] {
    Section<Observer> s(
        "Observers far away, each in a `direction`; or sets of them (`random`, `healpix`), whose members are called "
        "NAME.0, NAME.1, ... "
        "Outputs name the one that they belong to; an output of a set is one for each member, with the same endings.");
    s.text("name", &Observer::name, "a name of at most 100 bytes, without / and control characters",
           [](const std::string& name) {
             const auto forbidden = [](unsigned char c) { return c == '/' || c < ' ' || c == 127; };
             return !name.empty() && name.size() <= longest_name && std::ranges::none_of(name, forbidden);
           },
           {.meaning = "name of the observer, for outputs", .example = "face"});
    s.vector("direction", &Observer::direction, Dimension::none, anything,
             {.meaning = "from the object to the observer; its length does not matter", .example = "[0, 0, 1]"});
    s.integer("random", &Observer::random, 1, most_observers,
              {.meaning = "makes a set of as many observers in random directions, by the `seed`", .example = "20"});
    s.integer("healpix", &Observer::healpix, 1, 16,
              {.meaning = "N_side: makes a set of 12 N_side² observers, evenly spread (the pixels of HEALPix)",
               .example = "2"});
    s.exactly_one({"direction", "random", "healpix"});
    s.vector(
        "up", &Observer::up, Dimension::none, anything,
        {.meaning = "upward in images, as far as it lies across the line of sight; where it is along that, z takes "
                    "its place, or y",
         .fallback = "[0, 1, 0]"});
    s.map("rest", &Observer::rest, rest_section(),
          {.meaning = "object in whose rest frame light is seen; by default that of the gas's coordinates, in the "
                      "Hubble flow at the `centre` of each output"});
    s.check([](Reader& reader, const Observer& o) {
      if (!reader.clean("direction") || !reader.clean("up")) return;
      if (!(length(o.up) > 0)) return reader.report("up", "must not be zero");
      if (o.is_set() || !reader.has("direction") || reader.has("random") || reader.has("healpix")) return;
      if (!(length(o.direction) > 0)) reader.report("direction", "must not be zero");
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
    s.integer("thin", &Peel::thin, 1, 1024,
              {.meaning = "of a photon's scatterings in the core of the line, after `thin_after` steps, one in so many "
                          "is drawn to send rays, with the light of all: less work, the same mean; 1 is none",
               .fallback = "8"});
    s.integer("thin_after", &Peel::thin_after, 0, 1 << 30,
              {.meaning = "steps of a photon before its scatterings are thinned", .fallback = "262144"});
    s.quantity(
        "memory", &Peel::memory, Dimension::memory, {.low = 1e6, .high = 1e15},
        {.meaning = "memory of a GPU for scatterings whose rays wait: photons pause where it is full; a processor "
                    "needs a few MB",
         .fallback = "2 GB"});
    s.optional_quantity(
        "depth", &Peel::depth, Dimension::none, {.low = 0, .high = 1000, .low_open = true},
        {.meaning =
             "path at which a ray ends and is seen, and on which dust counts for rays and photons, in lengths of "
             "the longest side of a periodic box; by default dust counts for 1, and the line absorbs until "
             "`dataset.stop_shift`",
         .example = "1.5"});
    return s;
  }();
  return section;
}

const Section<Psf>& psf_section() {
  static const Section<Psf> section = [] {
    Section<Psf> s("Point-spread function, a Gaussian: every contribution is displaced at random.");
    s.sky_length("fwhm", &Psf::fwhm, sky_bounds,
                 {.meaning = "full width at half maximum on the sky", .example = "1 kpc"});
    return s;
  }();
  return section;
}

const Section<Lsf>& lsf_section() {
  static const Section<Lsf> section = [] {
    Section<Lsf> s("Line-spread function, a Gaussian in velocity: every contribution is displaced at random.");
    s.quantity("fwhm", &Lsf::fwhm, Dimension::velocity, {.low = 0, .high = constants::c / 10, .low_open = true},
               {.meaning = "full width at half maximum", .example = "50 km/s"});
    return s;
  }();
  return section;
}

}  // namespace config

std::vector<config::Observer> members_of(const config::Observer& set, std::uint64_t seed, std::size_t place) {
  if (!set.is_set()) return {set};
  std::vector<config::Observer> members(set.random > 0 ? set.random : 12 * set.healpix * set.healpix);
  for (std::size_t i = 0; i < members.size(); ++i) {
    config::Observer& member = members[i];
    member.name = set.name + "." + std::to_string(i);
    member.direction = set.random > 0 ? random_direction(seed, place * most_observers + i)
                                      : healpix_centre(std::int64_t(set.healpix), std::int64_t(i));
    member.up = set.up;
    member.rest = set.rest;
  }
  return members;
}

SkyFrame sky_of(const std::vector<config::Observer>& observers, const std::string& name, double size) {
  SkyFrame sky;
  sky.size = size;
  for (std::size_t i = 0; i < observers.size(); ++i) {
    if (observers[i].name != name) continue;
    sky.observer = int(i);
    const Vector towards = unit(observers[i].direction);
    const Vector right = unit(cross(upward(towards, observers[i].up), towards));
    const Vector up = cross(towards, right);
    for (std::size_t k = 0; k < 3; ++k) sky.towards[k] = towards[k], sky.right[k] = right[k], sky.up[k] = up[k];
  }
  return sky;
}

}  // namespace thor
