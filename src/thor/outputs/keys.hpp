#pragma once
#include <algorithm>
#include <cmath>

#include "thor/config/names.hpp"
#include "thor/config/section.hpp"
#include "thor/outputs/binned.hpp"

/// Keys that binned outputs have in common, for their .cpp files.
namespace thor::config {

/// Declares `name`, `of`, `generator` and `errors`.
template <class Output>
void declare_binned(Section<Output>& s) {
  s.text("name", &Output::name, expected_name, is_name,
         {.meaning = "name of the group in the result file; no two outputs share one", .example = "emergent"});
  s.choice("of", &Output::of,
           std::vector<Option<Fate>>{
               {"escaped", Fate::escaped, "photons that left the gas"},
               {"emitted", Fate::emitted, "all photons, as they started"},
               {"absorbed", Fate::absorbed, "photons that dust absorbed"},
               {"stopped", Fate::stopped,
                "photons that were shifted beyond `stop_shift` of a grid, as they left their last scattering"},
           },
           {.meaning = "photons that are counted", .fallback = "escaped"});
  s.text("generator", &Output::generator, "the name of a generator", [](const std::string&) { return true; },
         {.meaning = "generators whose photons are counted, by their `name`; by default all", .fallback = ""});
  s.choice("errors", [](Output& o) -> bool& { return o.errors; },
           std::vector<Option<bool>>{
               {"histories", true, "from the light that each photon adds to a bin; 32 bytes of memory a bin"},
               {"none", false, "the result has none; 8 bytes a bin"}},
           {.meaning = "Monte Carlo errors ([how](formats.md#errors-and-rounding))", .fallback = "histories"});
}

/// Words for frequency, as values of an enumeration that begins with those of Axis.
template <class E>
std::vector<Option<E>> frequency_options() {
  return {{"x", E(Axis::x), "(c/v_th) ln(ν/ν₀), positive to the blue"},
          {"velocity", E(Axis::velocity), "c(λ/λ₀ − 1), positive to the red"},
          {"wavelength", E(Axis::wavelength), "vacuum wavelength"},
          {"frequency", E(Axis::frequency), "ν"}};
}

/// Declares `range`, which sets `low` and `high` of an axis.
template <class T>
void declare_range(Section<T>& s, Dimension dimension, Bounds bounds, const Condition& when, const char* example) {
  const auto set = [](T& axis, double low, double high, Dimension) {
    axis.low = low;
    axis.high = high;
  };
  s.interval("range", set, {dimension}, bounds,
             {.meaning = "lower and upper end of the axis; light beyond them is counted separately",
              .example = example,
              .when = when});
}

/// Declares `range` for each of the words for frequency, which are values of `key`.
template <class T>
void declare_frequency_ranges(Section<T>& s, const std::string& key) {
  declare_range(s, Dimension::none, anything, {key, {"x"}}, "[-30, 30]");
  declare_range(s, Dimension::velocity, anything, {key, {"velocity"}}, "[-1000 km/s, 1000 km/s]");
  declare_range(s, Dimension::wavelength, positive, {key, {"wavelength"}}, "[1210 Angstrom, 1220 Angstrom]");
  declare_range(s, Dimension::frequency, positive, {key, {"frequency"}}, "[2.46e15 Hz, 2.47e15 Hz]");
}

/// Declares `reference`.
template <class Output>
void declare_reference(Section<Output>& s, const Condition& when = {}) {
  s.text(
      "reference", &Output::reference, "the name of a transition", [](const std::string&) { return true; },
      {.meaning = "transition that x and velocities are relative to, named as in `thor lines`; by default the line's "
                  "first",
       .fallback = "",
       .when = when});
}

/// Lengths on the sky: their squares are numbers, too.
inline constexpr Bounds sky_bounds{.low = 1e-10, .high = 1e32};

/// Declares the keys of a Sight; the line-spread function where the output has a `spectral` axis.
template <class Output>
void declare_sight(Section<Output>& s, bool optional, bool spectral) {
  const auto of_sight = [](auto member) {
    return [member](Output & o) -> auto& { return o.sight.*member; };
  };
  Spec spec{.meaning = "observer, or set of them, whose light is counted ([how](observers.md))"};
  if (optional) {
    spec.meaning += "; by default light of all directions";
    spec.fallback = "";
  } else {
    spec.example = "face";
  }
  s.text(
      "observer", of_sight(&Sight::observer), "the name of an observer", [](const std::string&) { return true; },
      std::move(spec));
  s.vector("centre", of_sight(&Sight::centre), Dimension::length, anything,
           {.meaning = "point in the middle of image, aperture or profile", .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
  s.choice("estimator", of_sight(&Sight::estimator),
           std::vector<Option<Estimator>>{
               {"peel", Estimator::peel, "rays from every emission and scattering to the observer (peeling off)"},
               {"escaped", Estimator::escaped, "photons that escape towards the observer, up to an angle `within`"}},
           {.meaning = "how light towards the observer is counted", .fallback = "peel"});
  s.quantity("within", of_sight(&Sight::within), Dimension::angle, {.low = constants::pi / 1800, .high = constants::pi},
             {.meaning = "largest angle between an escaped photon and the direction to the observer",
              .fallback = "30 deg",
              .when = {"estimator", {"escaped"}}});
  s.map("psf", of_sight(&Sight::psf), psf_section(), {.meaning = "point-spread function; by default none"});
  if (spectral) {
    s.map("lsf", of_sight(&Sight::lsf), lsf_section(), {.meaning = "line-spread function; by default none"});
  }
  s.check([](Reader& reader, const Output& o) {
    const Sight& sight = o.sight;
    if (sight.observer.empty()) {
      if (sight.estimator != Estimator::peel) reader.report("estimator", "belongs to an observer: name one");
      if (sight.psf) reader.report("psf", "is on the sky of an observer: name one");
      if (sight.centre != decltype(sight.centre){}) reader.report("centre", "is on the sky of an observer: name one");
      if (sight.lsf) reader.report("lsf", "belongs to an observer: name one");
    } else if (o.of != Fate::escaped && o.of != Fate::emitted) {
      reader.report("of", "an observer sees light that escaped; or, without transfer, light that was emitted");
    } else if (o.of == Fate::emitted && sight.estimator == Estimator::escaped) {
      reader.report("estimator", "light without transfer is seen with `estimator: peel` only, and needs no rays");
    }
  });
}

/// Declares the keys that images and cubes have in common.
template <class Output>
void declare_sky(Section<Output>& s, bool spectral) {
  declare_binned(s);
  declare_sight(s, false, spectral);
  s.sky_length("width", [](Output& o) -> double& { return o.width; }, sky_bounds,
               {.meaning = "width of the image", .example = "60 kpc"});
  s.integer("pixels", [](Output& o) -> std::uint64_t& { return o.pixels; }, 1, 16384,
            {.meaning = "columns of the image; pixels are squares", .example = "256"});
  s.integer("rows", [](Output& o) -> std::uint64_t& { return o.rows; }, 0, 16384,
            {.meaning = "rows of the image; 0: as many as columns", .fallback = "0"});
}

/// Edges must be numbers, each above the one before; those of a logarithmic axis are found from high/low.
inline void check_edges(Reader& reader, double low, double high, std::uint64_t bins, bool logarithmic = false) {
  if (!reader.clean("range") || !reader.clean("bins") || bins == 0) return;
  if (!(high - low < 1e300) || (logarithmic && low > 0 && !(high / low < 1e300))) {
    reader.report("range", "too wide to be divided into bins");
  } else if ((high - low) / double(bins) < 1e-13 * std::max(std::abs(low), std::abs(high))) {
    reader.report("range", "too narrow for so many bins: their edges would be the same number");
  }
}

}  // namespace thor::config
