#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "thor/datasets/cell_records.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/io/array/input.hpp"
#include "thor/line/line.hpp"

/// The arrays of a file that are the gas of cells, whatever the mesh: docs/formats.md#grids. Every failure is an
/// Error(input) that names file, array and cell.
namespace thor {

/// Names of arrays of numbers that are `wanted`, at the root of a file.
std::vector<std::string> arrays_where(const io::Input& file, const std::function<bool(const io::ArrayInfo&)>& wanted);

/// The arrays of the gas that the line sees.
struct GasArrays {
  std::string density, temperature;
  std::array<std::string, 3> velocity;
  bool of_ion = false;  ///< weighted by the absorber's number; else by mass, of all gas

  std::vector<std::string> all() const { return {density, temperature, velocity[0], velocity[1], velocity[2]}; }
};

/// Temperature and velocity are those of the ion whose density is taken, where the file has them. All four or none.
GasArrays gas_arrays(const io::Input& file, const config::Dataset& dataset, const Line& line);

/// The array of turbulent broadening, which adds in quadrature to the thermal speed.
inline const char* const turbulence_field = "b_turb";

/// The array of the absorber's number density.
std::string density_field(const config::Dataset& dataset, const Line& line);

/// Whether the file has an array of turbulent broadening.
bool has_turbulence(const config::Dataset& dataset);

/// Whether ions of several masses absorb in a line, whose widths keep their ratio only without turbulence.
bool has_isotopes(const Line& line);

/// Factor to cgs of an array of velocities, which must have units.
double velocity_unit(const io::Input& file, const std::string& field);

using TakeValue = std::function<void(std::int64_t cell, double value)>;
/// Reads an array, one number a cell, in threads.
using ReadField = std::function<void(const std::string& field, const TakeValue& take)>;

/// A file with the gas of cells, and what happens to a number that cannot be gas.
struct GasSource {
  const config::Dataset& dataset;
  const Line& line;
  ReadField read;
  std::function<void(const std::string& what, std::int64_t cell, double value)> refuse;
};

/// Says so where temperature and velocity are not those of the ion.
void warn_of_other_gas(const GasSource& source);
/// Reads the gas of all cells.
void fill_gas(const GasSource& source, std::int64_t count, int threads, CellRecords& cells);
/// The largest component of a velocity [cm/s].
double fastest_velocity(const config::Dataset& dataset, const Line& line, const ReadField& read);

}  // namespace thor
