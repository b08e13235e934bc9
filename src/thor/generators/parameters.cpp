#include "thor/generators/parameters.hpp"

#include <cmath>

#include "thor/config/names.hpp"
#include "thor/config/section.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/gas_limits.hpp"

namespace thor::config {
namespace {

constexpr Bounds wavelength_shift{.low = -constants::c, .low_open = true};  // lambda > 0
constexpr Bounds width{.low = 0, .high = constants::c, .low_open = true, .high_open = true};
constexpr double narrowest_cone = constants::pi / 1800;
constexpr Bounds not_relativistic{.low = -fastest_gas,
                                  .high = fastest_gas};  // for a component; the norm is checked too

const Section<Spectrum>& spectrum_section() {
  static const Section<Spectrum> section = [] {
    Section<Spectrum> s(
        "Spectrum of the source in its own frame. Velocities are c(λ/λ₀ − 1), positive to the red. A continuum is flat "
        "in λ; with a line, P(line) = EW/(EW + Δλ).");
    using enum SpectrumType;
    s.choice(
        "type", &Spectrum::type,
        std::vector<Option<SpectrumType>>{
            {"delta", delta, "a single frequency"},
            {"gaussian", gaussian, "a Gaussian of standard deviation `sigma`"},
            {"lorentzian", lorentzian,
             "a Lorentzian of half width `hwhm`, cut off at a tenth of the speed of light on either side"},
            {"thermal", thermal,
             "a Gaussian as wide as the thermal motion of atoms at `temperature`, or, without it, as the thermal and "
             "turbulent (`b_turb`) motion of the gas that shines"},
            {"continuum", continuum, "a continuum that is flat over `range`"},
            {"line_and_continuum", line_and_continuum, "a Gaussian on a flat continuum"},
        },
        {.meaning = "shape of the spectrum", .fallback = "delta"});
    s.quantity("sigma", &Spectrum::sigma, Dimension::velocity, width,
               {.meaning = "standard deviation of the line",
                .example = "150 km/s",
                .when = {"type", {"gaussian", "line_and_continuum"}}});
    s.optional_quantity("hwhm", &Spectrum::hwhm, Dimension::velocity,
                        {.low = 0, .high = 0.01 * constants::c, .low_open = true},
                        {.meaning = "half of the full width at half maximum; by default the natural width of the "
                                    "transition, λ₀ Γ/(4π)",
                         .example = "50 km/s",
                         .when = {"type", {"lorentzian"}}});
    s.optional_quantity(
        "temperature", &Spectrum::temperature, Dimension::temperature, positive,
        {.meaning =
             "temperature of the emitting atoms; without it, gas that shines has its own width, `b_turb` included",
         .example = "1e4 K",
         .when = {"type", {"thermal"}}});
    s.quantity("equivalent_width", &Spectrum::equivalent_width, Dimension::length, positive,
               {.meaning = "equivalent width of the line over the continuum",
                .example = "2 Angstrom",
                .when = {"type", {"line_and_continuum"}}});
    s.interval("range",
               [](Spectrum& spectrum, double low, double high, Dimension dimension) {
                 spectrum.range = {low, high, dimension == Dimension::velocity};
               },
               {Dimension::velocity, Dimension::wavelength}, wavelength_shift,
               {.meaning = "lower and upper end of the continuum, as velocities or wavelengths",
                .example = "[-2000 km/s, 2000 km/s]",
                .when = {"type", {"continuum", "line_and_continuum"}}});
    s.quantity("offset", &Spectrum::offset, Dimension::velocity, wavelength_shift,
               {.meaning = "velocity of the line centre relative to λ₀",
                .fallback = "0 km/s",
                .when = {"type", {"delta", "gaussian", "lorentzian", "line_and_continuum"}}});
    s.text("reference", &Spectrum::reference, "the name of a transition", [](const std::string&) { return true; },
           {.meaning = "transition of λ₀, named as in `thor lines`; by default the line's first", .fallback = ""});
    s.check([](Reader& reader, const Spectrum& spectrum) {
      if (!spectrum.range.is_velocity && spectrum.range.low <= 0) reader.report("range", "wavelengths must be > 0");
    });
    return s;
  }();
  return section;
}

/// Makes it a unit vector.
void normalize(Reader& reader, std::array<double, 3>& d) {
  const double largest = std::fmax(std::fmax(std::fabs(d[0]), std::fabs(d[1])), std::fabs(d[2]));
  if (largest == 0) reader.report("direction", "must not be [0, 0, 0]");
  const double norm = std::hypot(d[0] / largest, d[1] / largest, d[2] / largest);
  d = {d[0] / largest / norm, d[1] / largest / norm, d[2] / largest / norm};
}

Condition of_many() { return {"type", {"gas", "sources"}}; }

void add_place(Section<Generator>& s) {
  s.choice("type", &Generator::type,
           std::vector<Option<GeneratorType>>{
               {"point", GeneratorType::point, "a point, isotropic in its own frame, or in a cone (`opening_angle`)"},
               {"extended", GeneratorType::extended, "a volume, a surface or a beam"},
               {"gas", GeneratorType::gas, "every cell of a grid, in the frame of its gas"},
               {"sources", GeneratorType::sources, "points of a file"},
           },
           {.meaning = "kind of source", .example = "point"});
  s.text("name", &Generator::name, std::string(expected_name) + ", not digits alone",
         [](const std::string& name) {
           return name.empty() || (is_name(name) && name.find_first_not_of("0123456789") != std::string::npos);
         },
         {.meaning = "name for outputs (`generator`); neighbours in the list may share one; by default the number in "
                     "the list, from 0",
          .fallback = "",
          .example = "stars"});
  s.vector("position", &Generator::position, Dimension::length, anything,
           {.meaning = "position of the source, inside the gas or its cavity",
            .fallback = "[0 kpc, 0 kpc, 0 kpc]",
            .when = {"type", {"point"}}});
  s.choice("shape", &Generator::shape,
           std::vector<Option<SourceShape>>{
               {"medium", SourceShape::medium, "the volume of the gas, uniformly, in the frame of the gas"},
               {"surface", SourceShape::surface, "a sphere of `radius` around the origin, isotropic at each point"},
               {"beam", SourceShape::beam,
                "light from outside through a disc of `radius` around the origin, parallel or in a cone "
                "(`opening_angle`)"},
           },
           {.meaning = "shape of the source", .example = "medium", .when = {"type", {"extended"}}});
  const Condition point{"type", {"point"}}, beam{"shape", {"beam"}};
  s.vector("direction", &Generator::direction, Dimension::none, anything,
           {.meaning = "axis of the cone; the length of the vector does not matter",
            .fallback = "[0, 0, 1]",
            .when = point});
  s.quantity("opening_angle", &Generator::opening_angle, Dimension::angle,
             {.low = narrowest_cone, .high = constants::pi},
             {.meaning = "angle between the axis and the edge of the cone of emission; by default all "
                         "directions",
              .fallback = "180 deg",
              .example = "30 deg",
              .when = point});
  s.vector("direction", &Generator::direction, Dimension::none, anything,
           {.meaning = "direction of the beam; the length of the vector does not matter",
            .fallback = "[0, 0, 1]",
            .when = beam});
  s.quantity("opening_angle", &Generator::opening_angle, Dimension::angle, {.low = 0, .high = constants::pi / 2},
             {.meaning = "angle between the axis and the edge of the cone of directions at every point of the disc, at "
                         "least 0.1 deg; by default parallel light, which observers do not see directly",
              .fallback = "0 deg",
              .example = "5 deg",
              .when = beam});
  s.quantity(
      "radius", &Generator::radius, Dimension::length, positive,
      {.meaning = "radius of the surface or the beam", .example = "0.5 kpc", .when = {"shape", {"surface", "beam"}}});
}

void add_light(Section<Generator>& s) {
  const Condition one{"type", {"point", "extended"}}, many = of_many();
  s.vector("velocity", &Generator::velocity, Dimension::velocity, not_relativistic,
           {.meaning = "velocity of the source as a whole", .fallback = "[0 km/s, 0 km/s, 0 km/s]", .when = one});
  s.integer("photons", &Generator::photons, 1, std::uint64_t{1} << 62,
            {.meaning = "number of Monte Carlo photons", .example = "100000", .when = one});
  s.integer(
      "photons", &Generator::photons, 0, std::uint64_t{1} << 62,
      {.meaning =
           "number of photons in all, of equal weight, shared among the sources by luminosity; or `photons_per_1e42`",
       .fallback = "0",
       .example = "100000",
       .when = many});
  s.number("photons_per_1e42", &Generator::photons_per_1e42, {.low = 0, .high = 1e15},
           {.meaning = "number of photons of a source per 1e42 erg/s; their weights add up to its luminosity",
            .fallback = "0",
            .example = "1e6",
            .when = many});
  s.integer("min_photons", &Generator::min_photons, 1, 1u << 30,
            {.meaning = "least number of photons of a source, with `photons_per_1e42`", .fallback = "1", .when = many});
  s.integer("max_photons", &Generator::max_photons, 1, std::uint64_t{1} << 40,
            {.meaning = "largest number of photons of a source, with `photons_per_1e42`",
             .fallback = "1000000",
             .when = many});
  s.quantity("luminosity", &Generator::luminosity, Dimension::luminosity, positive,
             {.meaning = "luminosity of the source, shared equally by its photons",
              .fallback = "1 erg/s",
              .example = "1e42 erg/s",
              .when = one});
}

void add_emission_of_gas(Section<Generator>& s) {
  s.choice(
      "emission", &Generator::emission,
      std::vector<Option<Emission>>{
          {"recombination", Emission::recombination, "Lyα of recombining hydrogen, in case B"},
          {"collisional", Emission::collisional, "Lyα of hydrogen excited by electrons"},
          {"field", Emission::field, "an array of the grid file, in erg s-1 cm-3"},
      },
      {.meaning = "emission process ([emission](emission.md))", .example = "recombination", .when = {"type", {"gas"}}});
  s.text("field", &Generator::field, "the name of an array", [](const std::string& name) { return !name.empty(); },
         {.meaning = "array of the grid file", .example = "emissivity_MgII", .when = {"emission", {"field"}}});
  s.boolean(
      "from_cells", &Generator::from_cells,
      {.meaning = "whether emission follows from the means of cells, not from an emissivity; biased in clumpy gas",
       .fallback = "false",
       .when = {"emission", {"recombination", "collisional"}}});
}

void add_list_of_sources(Section<Generator>& s) {
  const Condition sources{"type", {"sources"}};
  s.text("path", &Generator::path, "a file name", [](const std::string&) { return true; },
         {.meaning = "file with a list of sources ([sources](formats.md#sources)); by default the grid file",
          .fallback = "",
          .when = sources});
  s.text("group", &Generator::group, "a group", [](const std::string&) { return true; },
         {.meaning = "group of the file that holds the list", .fallback = "/sources", .when = sources});
  s.choice("brightness", &Generator::brightness,
           std::vector<Option<Brightness>>{
               {"luminosity", Brightness::luminosity, "luminosity in erg/s"},
               {"ionizing_rate", Brightness::ionizing_rate, "ionising photons per second, Q: L = 0.68 E_Lyα Q"},
               {"sfr", Brightness::sfr, "star formation rate in M_sun/yr: L = efficiency SFR 1e42 erg/s"},
           },
           {.meaning = "column that gives the brightness of a source", .fallback = "luminosity", .when = sources});
  s.choice("frame", &Generator::frame,
           std::vector<Option<RestFrame>>{
               {"gas", RestFrame::gas, "frame of the gas around the source; in a cavity that of the box"},
               {"source", RestFrame::source, "frame of the source, whose velocity is in the file"},
               {"box", RestFrame::box, "frame in which the box is at rest"},
           },
           {.meaning = "frame in which the spectrum is centred", .fallback = "gas", .when = sources});
  s.number("efficiency", &Generator::efficiency, positive,
           {.meaning = "f_eff of the scaling with the star formation rate",
            .fallback = "1",
            .when = {"brightness", {"sfr"}}});
}

void check_generator(Reader& reader, Generator& g) {
  const bool beam = g.type == GeneratorType::extended && g.shape == SourceShape::beam;
  if ((beam || g.type == GeneratorType::point) && reader.clean("type")) normalize(reader, g.direction);
  if (beam && g.opening_angle > 0 && g.opening_angle < narrowest_cone) {
    reader.report("opening_angle", "must be at least 0.1 deg, or 0 deg for parallel light");
  }
  const bool many = g.type == GeneratorType::gas || g.type == GeneratorType::sources;
  if (many && (g.photons > 0) == (g.photons_per_1e42 > 0)) {
    reader.report("photons", "expected exactly one of photons and photons_per_1e42");
  }
  if (std::hypot(g.velocity[0], g.velocity[1], g.velocity[2]) > fastest_gas) {
    reader.report("velocity", "must be slower than a tenth of light: the formulas are not relativistic");
  }
  if (g.min_photons > g.max_photons) reader.report("min_photons", "must not be more than max_photons");
}

}  // namespace

const Section<Generator>& generator_section() {
  static const Section<Generator> section = [] {
    Section<Generator> s(
        "Where photons start. Photons are dealt in turn to the elements of this list, and to the sources of each: at "
        "any "
        "time every source has emitted close to its share of the photons so far.");
    add_place(s);
    add_light(s);
    add_emission_of_gas(s);
    add_list_of_sources(s);
    s.quantity(
        "minimum_luminosity", &Generator::minimum_luminosity, Dimension::luminosity, non_negative,
        {.meaning = "luminosity below which cells or sources are left out", .fallback = "0 erg/s", .when = of_many()});
    s.number("escape_fraction", &Generator::escape_fraction, {.low = 0, .high = 1, .low_open = true},
             {.meaning = "fraction f of the light that leaves the unresolved surroundings of its source; the rest is "
                         "absorbed at birth",
              .fallback = "1"});
    s.map("spectrum", &Generator::spectrum, spectrum_section(),
          {.meaning = "spectrum of the source", .fallback = "{}"});
    s.check(check_generator);
    return s;
  }();
  return section;
}

}  // namespace thor::config
