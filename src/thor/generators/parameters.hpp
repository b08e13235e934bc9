#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace thor::config {

template <class T>
class Section;

enum class SpectrumType { delta, gaussian, lorentzian, thermal, continuum, line_and_continuum };

/// Velocities c(lambda/lambda0 - 1) [cm/s], positive to the red, or wavelengths [cm]; low < high.
struct SpectralRange {
  double low = 0;
  double high = 0;
  bool is_velocity = true;

  bool operator==(const SpectralRange&) const = default;
};

/// The spectrum of a source, in the source's frame.
struct Spectrum {
  SpectrumType type = SpectrumType::delta;
  double offset = 0;                  ///< c(lambda/lambda0 - 1) [cm/s]; all but thermal and continuum
  double sigma = 0;                   ///< [cm/s]; gaussian, line_and_continuum
  std::optional<double> hwhm;         ///< [cm/s]; lorentzian; none: the natural width
  std::optional<double> temperature;  ///< [K]; thermal; none: that of the gas there
  double equivalent_width = 0;        ///< [cm]; line_and_continuum
  SpectralRange range;                ///< continuum, line_and_continuum
  std::string reference;              ///< the transition of lambda0; "" is the line's first

  bool operator==(const Spectrum&) const = default;
};

enum class GeneratorType { point, extended, gas, sources };
enum class Emission { recombination, collisional, field };
enum class Brightness { luminosity, ionizing_rate, sfr };
/// Frame in which the spectrum of a source is centred.
enum class RestFrame { gas, source, box };
enum class SourceShape { medium, surface, beam };

struct Generator {
  std::string name{};  ///< for outputs; generators of one name are neighbours
  GeneratorType type = GeneratorType::point;
  std::array<double, 3> position{};         ///< point [cm]
  SourceShape shape = SourceShape::medium;  ///< extended
  double radius = 0;                        ///< surface, beam [cm]
  std::array<double, 3> direction{};        ///< point, beam: unit vector
  double opening_angle = 0;                 ///< from it to the edge of the cone [rad]; beam: 0 is parallel light
  std::array<double, 3> velocity{};         ///< velocity of the source as a whole [cm/s]
  std::uint64_t photons = 0;                ///< number in all; gas, sources: 0 if photons_per_1e42 is given
  double luminosity = 0;                    ///< [erg/s]; point, extended
  double escape_fraction = 1;

  // gas, sources
  double photons_per_1e42 = 0;  ///< photons of each source per 1e42 erg/s
  std::uint64_t min_photons = 0, max_photons = 0;
  double minimum_luminosity = 0;  ///< fainter sources are left out [erg/s]
  // gas
  Emission emission = Emission::recombination;
  std::string field;
  bool from_cells = false;  ///< whether emission is computed from the mean state of each cell
  // sources
  std::string path, group;
  Brightness brightness = Brightness::luminosity;
  double efficiency = 1;
  RestFrame frame = RestFrame::gas;
  Spectrum spectrum;

  bool operator==(const Generator&) const = default;
};

const Section<Generator>& generator_section();

}  // namespace thor::config
