#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/io/array/input.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Meaning of the numbers in a snapshot: code units, cosmology, and how both enter a field.
namespace thor::io {

enum class Code { gadget, swift };

/// Physical quantity of a field.
enum class FieldQuantity { none, length, volume, mass, density, velocity, energy, temperature, time, mass_rate };

struct SnapshotUnits {
  Code code = Code::gadget;
  std::optional<double> length, mass, velocity;  ///< [cm], [g], [cm/s]
  bool overridden = false;                       ///< by the user: the factors of individual datasets are then ignored
  double a = 1, h = 1;                           ///< values of a and h in the units; a = 1 if not comoving
  std::optional<double> time;                    ///< Time of the header in code units, if it is not a scale factor
};

/// Reads the attributes of a snapshot's first file. The box is read by read_box(), since it has the units of positions.
SnapshotUnits read_header(const Input& input, const SnapshotOptions& options, SnapshotHeader& header);

/// Factor that converts a value of dataset `path` to physical cgs units. Attributes of the dataset have priority over
/// the conventions of the code.
double cgs_factor(const Input& input, const std::string& path, FieldQuantity quantity, const SnapshotUnits& units);
/// The same for a quantity without a dataset, by the conventions of the code.
double cgs_factor(const Input& input, FieldQuantity quantity, const SnapshotUnits& units);

/// Compares the units in the attributes of positions, masses and velocities with those of the header.
void compare_units(const Input& input, const std::string& group, const SnapshotUnits& units,
                   std::vector<std::string>& warnings);

void read_box(const Input& input, double length_factor, const SnapshotOptions& options, SnapshotHeader& header);

}  // namespace thor::io
