#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "thor/io/array/input.hpp"

/// Tables over regular axes: code shared by ionisation and ion tables.
namespace thor::emission {

struct Axis {
  std::string name;
  std::vector<double> values;  ///< strictly increasing
};

/// Between two entries of an axis, `weight` of the way from the lower to the upper.
struct AxisPosition {
  std::size_t low = 0, high = 0;
  double weight = 0;
  bool outside = false;  ///< beyond the axis; clamped to its end
};

/// Reads a one-dimensional array of finite, increasing numbers; anything else is an Error(input).
Axis read_axis(const io::Input& file, const std::string& name);

/// Reads an array over these axes, in this order: its shape must match, and no value may be NaN.
std::vector<double> read_table(const io::Input& file, const std::string& name, std::span<const Axis> axes);

AxisPosition locate(const Axis& axis, double value);

/// A redshift outside the axis is an Error(input). An axis of one entry holds for redshifts within 0.01 of it.
AxisPosition locate_redshift(const Axis& axis, double redshift, const std::string& file);

/// Interpolates linearly along every axis; `values` are in C order over axes of these lengths.
template <std::size_t N>
double interpolate(std::span<const double> values, const std::array<std::size_t, N>& lengths,
                   const std::array<AxisPosition, N>& places) {
  double sum = 0;
  for (std::size_t corner = 0; corner < std::size_t(1) << N; ++corner) {
    std::size_t index = 0;
    double weight = 1;
    for (std::size_t i = 0; i < N; ++i) {
      const bool high = corner >> i & 1;
      index = index * lengths[i] + (high ? places[i].high : places[i].low);
      weight *= high ? places[i].weight : 1 - places[i].weight;
    }
    if (weight > 0) sum += weight * values[index];
  }
  return sum;
}

}  // namespace thor::emission
