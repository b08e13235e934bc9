#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "thor/datasets/dust_law.hpp"

namespace thor::config {

template <class T>
class Section;

enum class DensityProfile { homogeneous, power_law };
enum class VelocityProfile { static_, linear, constant, power_law };
enum class Boundary { file, open, periodic };
enum class BadCells { error, drop };

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

/// Exactly one of tau, law and cross_section is set.
struct Dust {
  std::optional<double> tau;              ///< extinction along the path of tau0
  std::optional<DustLaw> law;             ///< or from a law:
  std::optional<double> cross_section;    ///< or of each particle of dust_field, in a grid [cm^2]
  std::optional<double> metallicity;      ///< in units of the solar one; not in a grid, which has its own
  std::optional<double> hydrogen_column;  ///< [cm^-2]; by default that of the gas, where the gas is H I
  double ionized_column = 0;              ///< [cm^-2]
  double f_ion = 0;                       ///< share of dust that survives where hydrogen is ionised
  double albedo = 0;                      ///< in [0, 1]
  double g = 0;                           ///< mean cosine of a scattering, in (-1, 1)

  bool operator==(const Dust&) const = default;
};

/// Exactly one of tau0, column_density and number_density is set, except in a grid.
struct Dataset {
  std::string type = "shell";  ///< a name of datasets/types.list
  double inner_radius = 0;     ///< shell [cm]
  double outer_radius = 0;     ///< shell [cm]
  double half_thickness = 0;   ///< slab [cm]
  double temperature = 0;      ///< [K]
  double b_turb = 0;           ///< [cm/s]
  std::optional<double> tau0;
  std::optional<double> column_density;  ///< [cm^-2]
  std::optional<double> number_density;  ///< [cm^-3]
  Density density;
  Velocity velocity;
  std::optional<Dust> dust;
  double step_limiter = 0;  ///< in (0, 1]
  std::uint64_t cells = 0;  ///< shell: number of cells along its diameter if it is put on a grid; 0: no grid

  // uniform_grid
  std::string path;                 ///< relative to where thor runs
  std::string density_field;        ///< "" is that of the line's ion
  std::string dust_field = "dust";  ///< what the cross-section of dust multiplies
  Boundary boundary = Boundary::file;
  BadCells bad_cells = BadCells::error;
  double tiles = 1;  ///< copies of the file along each axis
  bool packed = false;
  bool compact = false;  ///< voronoi: neighbours in place of faces
  bool hubble_flow = true;
  std::optional<double> stop_shift;  ///< [cm], of wavelength

  std::map<std::string, double> more;  ///< keys of types that have no field here, in cgs

  bool operator==(const Dataset&) const = default;
};

const Section<Dataset>& dataset_section();

}  // namespace thor::config
