#pragma once
#include <cstdint>

#include "thor/math/functions.hpp"

namespace thor {

/// Bins of equal width or equal ratio, plain data.
struct BinAxis {
  bool logarithmic;
  double low, high;
  double span;  ///< high - low, or the logarithm of high/low
  std::int64_t bins;
  bool whole = false;  ///< values are whole numbers, of which many lie exactly on an edge

  bool operator==(const BinAxis&) const = default;
};

inline namespace THOR_ISA {

THOR_FN BinAxis bin_axis(double low, double high, std::int64_t bins, bool logarithmic, bool whole = false) {
  return {logarithmic, low, high, logarithmic ? log(high / low) : high - low, bins, whole};
}

/// Edge i of an axis, as in the file; of whole numbers, one that is whole but for rounding is made exact.
THOR_FN double edge_of(const BinAxis& axis, std::int64_t i) {
  if (i == axis.bins) return axis.high;
  const double along = double(i) * axis.span / double(axis.bins);
  if (!axis.logarithmic) return axis.low + along;
  const double edge = axis.low * exp(along);
  if (!axis.whole) return edge;
  const double whole = round_to_integer(edge);
  return abs(edge - whole) < 1e-12 * edge ? whole : edge;
}

/// The bin of a value, which is at or above its lower edge and below its upper one; -1 beyond the axis.
THOR_FN std::int64_t bin_on(const BinAxis& axis, double value) {
  if (!(value >= axis.low && value < axis.high)) return -1;
  const double along = (axis.logarithmic ? log(value / axis.low) : value - axis.low) / axis.span;
  auto bin = static_cast<std::int64_t>(along * double(axis.bins));
  bin = bin < axis.bins ? bin : axis.bins - 1;
  while (bin > 0 && value < edge_of(axis, bin)) --bin;  // rounding
  while (bin + 1 < axis.bins && value >= edge_of(axis, bin + 1)) ++bin;
  return bin;
}

}  // namespace THOR_ISA
}  // namespace thor
