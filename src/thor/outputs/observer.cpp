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
             {.meaning = "position of the object", .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
    s.vector("velocity", &Rest::velocity, Dimension::velocity, {.low = -fastest_gas, .high = fastest_gas},
             {.meaning = "peculiar velocity of the object", .fallback = "[0 km/s, 0 km/s, 0 km/s]"});
    return s;
  }();
  return section;
}

const Section<Observer>& observer_section() {
  static const Section<Observer> section = [] {
    Section<Observer> s(
        "Distant observers, each in a `direction`, or sets of observers (`random`, `healpix`) with members NAME.0, "
        "NAME.1, ... An output for a set is written once per member, with the same endings.");
    s.text("name", &Observer::name, "a name of at most 100 bytes, without / and control characters",
           [](const std::string& name) {
             const auto forbidden = [](unsigned char c) { return c == '/' || c < ' ' || c == 127; };
             return !name.empty() && name.size() <= longest_name && std::ranges::none_of(name, forbidden);
           },
           {.meaning = "name that outputs refer to", .example = "face"});
    s.vector("direction", &Observer::direction, Dimension::none, anything,
             {.meaning = "direction from the object to the observer; the length of the vector does not matter",
              .example = "[0, 0, 1]"});
    s.integer("random", &Observer::random, 1, most_observers,
              {.meaning = "number of observers of a set in random directions, drawn with `seed`", .example = "20"});
    s.integer(
        "healpix", &Observer::healpix, 1, 16,
        {.meaning = "N_side of a set of 12 N_side² observers in the directions of HEALPix pixels", .example = "2"});
    s.exactly_one({"direction", "random", "healpix"});
    s.vector("up", &Observer::up, Dimension::none, anything,
             {.meaning =
                  "upward direction in images, projected on the sky; if parallel to the line of sight, z or y is used",
              .fallback = "[0, 1, 0]"});
    s.map("rest", &Observer::rest, rest_section(),
          {.meaning = "object whose rest frame is velocity 0; by default that of the coordinates, in the Hubble flow "
                      "at the `centre` of each output"});
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

const Section<Fuse>& fuse_section() {
  static const Section<Fuse> section = [] {
    Section<Fuse> s(
        "Fusing: a group of successive scatterings of a photon, within both limits of its first one, sends one ray "
        "towards an observer, from a member drawn at random and with the light of all ([how](observers.md#fusing)).");
    s.quantity("velocity", &Fuse::velocity, Dimension::velocity,
               {.low = 0, .high = constants::c / 10, .low_open = true},
               {.meaning = "difference in velocity towards the observer", .example = "2.5 km/s"});
    s.quantity("distance", &Fuse::distance, Dimension::length, {.low = 0, .high = 1e35, .low_open = true},
               {.meaning = "distance between scatterings", .example = "0.3 pc"});
    return s;
  }();
  return section;
}

const Section<Peel>& peel_section() {
  static const Section<Peel> section = [] {
    Section<Peel> s("How the light towards observers is computed: a ray for every scattering (peeling off).");
    s.number("cut", &Peel::cut, {.low = 1, .high = 80},
             {.meaning = "optical depth at which a ray ends; light below e^-cut is neglected", .fallback = "30"});
    s.number("roulette", &Peel::roulette, {.low = 0, .high = 80},
             {.meaning = "optical depth beyond which rays end at random (Russian roulette, unbiased, saves work); "
                         "`cut` or more: off",
              .fallback = "3"});
    s.integer("thin", &Peel::thin, 1, 1024,
              {.meaning = "after `thin_after` steps, one in this many core scatterings of a photon sends rays, with "
                          "the light of all (unbiased, saves work); 1: off",
               .fallback = "8"});
    s.integer("thin_after", &Peel::thin_after, 0, 1 << 30,
              {.meaning = "number of steps of a photon before its scatterings are thinned", .fallback = "262144"});
    s.map("fuse", &Peel::fuse, fuse_section(),
          {.meaning = "limits within which successive scatterings of a photon send one ray with the light of all "
                      "(unbiased, saves work where every scattering is followed); by default off"});
    s.quantity(
        "memory", &Peel::memory, Dimension::memory, {.low = 1e6, .high = 1e15},
        {.meaning = "GPU memory for scatterings whose rays wait (photons pause when it is full), and as much for light "
                    "that is added up until its photon ends; with `--domains`, memory of a process for the latter",
         .fallback = "2 GB"});
    s.optional_quantity("depth", &Peel::depth, Dimension::none, {.low = 0, .high = 1000, .low_open = true},
                        {.meaning = "length of rays in a periodic box, in units of its longest side; dust absorbs "
                                    "along this path, by default along 1; the line absorbs until `dataset.stop_shift`",
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
