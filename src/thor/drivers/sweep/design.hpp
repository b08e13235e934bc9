#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thor/core/units.hpp"

/// The models of a sweep: the keys that vary, and their values in each model. Values are text, as after `--set key=`.
namespace thor::sweep {

enum class Design {
  grid,   ///< all combinations of values, the last key fastest
  list,   ///< as they are listed
  latin,  ///< a Latin hypercube: each key has one model in each of N equal parts of its range
  sobol   ///< a Sobol sequence with a random shift: more models can be added
};

/// A number and its unit, "" for none.
struct Number {
  double value = 0;
  std::string unit{};
  double cgs = 0;
  Dimension dimension = Dimension::none;
};
/// Nothing for what is no quantity.
std::optional<Number> number_of(const std::string& text);

/// Numbers from low to high, in one unit.
struct Range {
  double low = 0, high = 0;
  bool log = false;
  std::string unit{};       ///< "" for a plain number
  std::uint64_t count = 0;  ///< of a grid

  /// At a part of the range from 0 to 1, or at value i of the grid.
  std::string at(double part) const;
  std::string value(std::uint64_t i) const;
};

/// A key that varies.
struct Axis {
  std::string key;
  std::vector<std::string> values{};  ///< one by one, in a list "" where a model leaves the key as it is; or
  std::optional<Range> range{};
  std::string where{};  ///< it is given, "FILE:LINE:COLUMN"

  std::uint64_t count() const { return range ? range->count : values.size(); }
};

struct Models {
  /// Of a Sobol sequence, for which this many dimensions have direction numbers.
  static constexpr std::size_t most_sobol = 16;

  Models(Design design, std::vector<Axis> axes, std::uint64_t count, std::uint64_t seed);

  std::uint64_t count() const { return count_; }
  const std::vector<Axis>& axes() const { return axes_; }
  /// The values of all keys in a model.
  std::vector<std::string> values(std::uint64_t model) const;
  /// The seed of its photons, which differs from that of other models.
  std::uint64_t seed(std::uint64_t model) const;

 private:
  double part(std::uint64_t model, std::size_t axis) const;

  Design design_;
  std::vector<Axis> axes_;
  std::uint64_t count_, seed_;
  std::vector<std::vector<std::uint32_t>> orders_{};  ///< of a Latin hypercube, for each axis
};

}  // namespace thor::sweep
