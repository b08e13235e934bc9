#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run is asked to do, checked and in cgs. Built once by load() or parse(), then only read.
namespace thor::config {

enum class Driver { mcrt };
enum class Precision { single_, double_ };

enum class DatasetType { shell, slab };
enum class DensityProfile { homogeneous, power_law };
enum class VelocityProfile { static_, linear, power_law };

struct Density {
  DensityProfile profile = DensityProfile::homogeneous;
  double exponent = 0;  ///< power_law: n ~ r^exponent

  bool operator==(const Density&) const = default;
};

/// Not static: exactly one of max and average is set; negative is inflow.
struct Velocity {
  VelocityProfile profile = VelocityProfile::static_;
  double exponent = 0;            ///< power_law: v ~ r^exponent
  std::optional<double> max;      ///< [cm/s]
  std::optional<double> average;  ///< [cm/s]

  bool operator==(const Velocity&) const = default;
};

struct Dust {
  double tau = 0;        ///< extinction along the path of tau0
  double albedo = 0.32;  ///< in [0, 1]
  double g = 0.73;       ///< mean cosine of a scattering, in (-1, 1)

  bool operator==(const Dust&) const = default;
};

/// Exactly one of tau0, column_density and number_density is set.
struct Dataset {
  DatasetType type = DatasetType::shell;
  double inner_radius = 0;    ///< shell [cm]
  double outer_radius = 0;    ///< shell [cm]
  double half_thickness = 0;  ///< slab [cm]
  double temperature = 0;     ///< [K]
  double b_turb = 0;          ///< [cm/s]
  std::optional<double> tau0;
  std::optional<double> column_density;  ///< [cm^-2]
  std::optional<double> number_density;  ///< [cm^-3]
  Density density;
  Velocity velocity;
  std::optional<Dust> dust;
  double step_limiter = 0.1;  ///< in (0, 1]

  bool operator==(const Dataset&) const = default;
};

enum class SpectrumType { delta, gaussian, thermal, continuum, line_and_continuum };

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
  double offset = 0;            ///< c(lambda/lambda0 - 1) [cm/s]; delta, gaussian, line_and_continuum
  double sigma = 0;             ///< [cm/s]; gaussian, line_and_continuum
  double temperature = 0;       ///< [K]; thermal
  double equivalent_width = 0;  ///< [cm]; line_and_continuum
  SpectralRange range;          ///< continuum, line_and_continuum

  bool operator==(const Spectrum&) const = default;
};

enum class GeneratorType { point, extended };
enum class Shape { medium, surface, beam };

struct Generator {
  GeneratorType type = GeneratorType::point;
  std::array<double, 3> position{};          ///< point [cm]
  Shape shape = Shape::medium;               ///< extended
  double radius = 0;                         ///< surface, beam [cm]
  std::array<double, 3> direction{0, 0, 1};  ///< beam, unit vector
  std::array<double, 3> velocity{};          ///< of the source as a whole [cm/s]
  std::uint64_t photons = 0;
  double luminosity = 1;  ///< [erg/s]
  Spectrum spectrum;

  bool operator==(const Generator&) const = default;
};

enum class CoreSkipMode { none, local, global, fixed };  ///< `smith15` is local

struct CoreSkip {
  CoreSkipMode mode = CoreSkipMode::none;
  double x_crit = 0;  ///< fixed

  bool operator==(const CoreSkip&) const = default;
};

enum class PhaseFunction { default_, isotropic, dipole };

struct Physics {
  PhaseFunction phase_function = PhaseFunction::default_;
  bool recoil = false;

  bool operator==(const Physics&) const = default;
};

/// A photon beyond these is counted as lost.
struct Limits {
  std::uint64_t max_scatterings = 2'000'000'000;
  std::uint64_t max_steps = 2'000'000'000;

  bool operator==(const Limits&) const = default;
};

enum class Fate { escaped, emitted, absorbed };
enum class Axis { x, velocity, wavelength, frequency };

struct SpectrumOutput {
  std::string name;
  Fate of = Fate::escaped;
  Axis axis = Axis::velocity;
  double low = 0;  ///< dimensionless, [cm/s], [cm] or [Hz], by the axis
  double high = 0;
  std::uint64_t bins = 0;

  bool operator==(const SpectrumOutput&) const = default;
};

enum class PhotonField { id, weight, velocity_initial, velocity_final, position, direction, scatterings, column };

struct PhotonsOutput {
  std::vector<PhotonField> fields;  ///< each at most once, at least one

  bool operator==(const PhotonsOutput&) const = default;
};

struct Config {
  std::string path;      ///< of the file, as given to load()
  std::string resolved;  ///< YAML with every default written out; parses to this same Config
  Driver driver = Driver::mcrt;
  std::string line;
  std::uint64_t seed = 1;
  Precision precision = Precision::single_;
  Dataset dataset;
  std::vector<Generator> generators;
  CoreSkip core_skip;
  Physics physics;
  Limits limits;
  std::vector<SpectrumOutput> spectra;
  std::optional<PhotonsOutput> photons;
  std::string output_path;  ///< relative to where thor runs, not to the file

  bool operator==(const Config&) const = default;
};

/// Reads a file. An override is "a.b.c=value", list elements by index ("generators.0.photons=10"),
/// and is checked like the file itself. Throws thor::Error(usage) that names every mistake at once.
Config load(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same for text in memory; `name` stands for the file in messages and for relative paths.
Config parse(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides = {});

}  // namespace thor::config
