#include "thor/outputs/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

bool is_name(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

/// The fields of the spectrum that an output holds.
template <class M>
auto of_spectrum(M member) {
  return [member](Output & output) -> auto& { return output.spectrum.*member; };
}

void set_range(Output& output, double low, double high, Dimension) {
  output.spectrum.low = low;
  output.spectrum.high = high;
}

void declare_spectrum(Section<Output>& s) {
  const Condition spectrum{"type", {"spectrum"}};
  s.text("name", of_spectrum(&SpectrumOutput::name), "a name of letters, digits, _ and -", is_name,
         {.meaning = "of the group in the result file; each only once", .example = "emergent", .when = spectrum});
  s.choice("of", of_spectrum(&SpectrumOutput::of),
           std::vector<Option<Fate>>{
               {"escaped", Fate::escaped, "photons that left the gas"},
               {"emitted", Fate::emitted, "all photons, as they started"},
               {"absorbed", Fate::absorbed, "photons that dust absorbed"},
               {"stopped", Fate::stopped,
                "photons that were shifted beyond `stop_shift` of a grid, as they left their last scattering"},
           },
           {.meaning = "which photons", .fallback = "escaped", .when = spectrum});
  s.choice("axis", of_spectrum(&SpectrumOutput::axis),
           std::vector<Option<Axis>>{
               {"x", Axis::x, "(c/v_th) ln(ν/ν₀), positive to the blue"},
               {"velocity", Axis::velocity, "c(λ/λ₀ − 1), positive to the red"},
               {"wavelength", Axis::wavelength, "in vacuum"},
               {"frequency", Axis::frequency, "ν"},
           },
           {.meaning = "what is binned", .fallback = "velocity", .when = spectrum});
  const auto range = [&s](Dimension dimension, Bounds bounds, const char* axis, const char* example) {
    s.interval("range", set_range, {dimension}, bounds,
               {.meaning = "of the axis; light beyond is counted apart", .example = example, .when = {"axis", {axis}}});
  };
  range(Dimension::none, anything, "x", "[-30, 30]");
  range(Dimension::velocity, anything, "velocity", "[-1000 km/s, 1000 km/s]");
  range(Dimension::wavelength, positive, "wavelength", "[1210 Angstrom, 1220 Angstrom]");
  range(Dimension::frequency, positive, "frequency", "[2.46e15 Hz, 2.47e15 Hz]");
  s.integer("bins", of_spectrum(&SpectrumOutput::bins), 1, 10'000'000,
            {.meaning = "of equal width", .example = "200", .when = spectrum});
  s.text("reference", of_spectrum(&SpectrumOutput::reference), "the name of a transition",
         [](const std::string&) { return true; },
         {.meaning = "the transition that x and velocities are counted from, as in `thor lines`; by default the line's "
                     "first",
          .fallback = "",
          .when = {"axis", {"x", "velocity"}}});
}

/// Edges must be numbers, each above the one before.
void check_bins(Reader& reader, const Output& output) {
  const auto& [name, of, axis, low, high, bins, reference] = output.spectrum;
  if (!reader.clean("range") || !reader.clean("bins") || bins == 0) return;
  if (!(high - low < 1e300)) {
    reader.report("range", "too wide to be divided into bins");
  } else if ((high - low) / double(bins) < 1e-13 * std::max(std::abs(low), std::abs(high))) {
    reader.report("range", "too narrow for so many bins: their edges would be the same number");
  }
}

void declare_photons(Section<Output>& s) {
  using enum PhotonField;
  s.choices(
      "fields", [](Output & output) -> auto& { return output.photons.fields; },
      std::vector<Option<PhotonField>>{
          {"id", id, "number of the photon; with the seed it fixes its history"},
          {"weight", weight, "luminosity that it stands for"},
          {"velocity_initial", velocity_initial, "c(λ/λ₀ − 1) at emission"},
          {"velocity_final", velocity_final, "c(λ/λ₀ − 1) at the end"},
          {"velocity_scattered", velocity_scattered,
           "c(λ/λ₀ − 1) as it left its last scattering: before the Hubble flow to the end"},
          {"position", position, "where it last scattered, or was emitted"},
          {"direction", direction, "of its last flight"},
          {"scatterings", scatterings, "by the line"},
          {"column", column, "column density along its way"},
          {"position_initial", position_initial, "where it was emitted"},
          {"generator", generator, "number of the generator that emitted it, from 0"},
          {"source", source, "number of the source: its row in the list, or the cell (x n_y + y) n_z + z of the gas"},
      },
      {.meaning = "what is kept; all by default", .example = "[id, velocity_final]", .when = {"type", {"photons"}}});
}

}  // namespace

const Section<Output>& output_section() {
  static const Section<Output> section = [] {
    Section<Output> s("What is kept. Any number of spectra, and once the photons themselves.");
    s.choice("type", &Output::type,
             std::vector<Option<OutputType>>{
                 {"spectrum", OutputType::spectrum, "luminosity per bin with its Monte Carlo error"},
                 {"photons", OutputType::photons, "every photon, one row each"},
             },
             {.meaning = "kind of output", .example = "spectrum"});
    declare_spectrum(s);
    declare_photons(s);
    s.check(check_bins);
    return s;
  }();
  return section;
}

}  // namespace thor::config
