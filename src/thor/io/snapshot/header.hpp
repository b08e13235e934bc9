#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/io/array/input.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// What the numbers of a snapshot mean: code units, cosmology, and how both enter a field.
namespace thor::io {

enum class Code { gadget, swift };

/// What a field measures.
enum class Quantity { none, length, volume, mass, density, velocity, energy, temperature, time, mass_rate };

struct SnapshotUnits {
  Code code = Code::gadget;
  std::optional<double> length, mass, velocity;  ///< [cm], [g], [cm/s]
  bool overridden = false;                       ///< by the user: then the factors of single datasets do not count
  double a = 1, h = 1;                           ///< what a and h of the units are; a = 1 if not comoving
  std::optional<double> time;                    ///< Time of the header, in code units; where it is no scale factor
};

/// From the attributes of a snapshot's first file. The box is left to read_box(), as it is measured like positions.
SnapshotUnits read_header(const Input& input, const SnapshotOptions& options, SnapshotHeader& header);

/// What a value of dataset `path` must be multiplied by to be physical and in cgs. Attributes of the dataset come
/// first, then the custom of the code.
double cgs_factor(const Input& input, const std::string& path, Quantity quantity, const SnapshotUnits& units);
/// The same for what has no dataset, by the custom of the code.
double cgs_factor(const Input& input, Quantity quantity, const SnapshotUnits& units);

void read_box(const Input& input, double length_factor, const SnapshotOptions& options, SnapshotHeader& header);

}  // namespace thor::io
