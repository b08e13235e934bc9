#include "thor/emission/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "thor/emission/refuse.hpp"

namespace thor::emission {
namespace {

std::vector<std::uint64_t> shape_of(const io::Input& file, const std::string& name) {
  const std::string path = file.path().string();
  if (!file.has(name)) {
    refuse(path, fmt::format("no array \"{}\"; docs/emission.md has the layout of tables", name));
  }
  const io::ArrayInfo info = file.array(name);
  if (!info.numeric) refuse(path, fmt::format("array \"{}\" has type {}, not numbers", name, info.type));
  return info.shape;
}

}  // namespace

Axis read_axis(const io::Input& file, const std::string& name) {
  const std::string path = file.path().string();
  const auto shape = shape_of(file, name);
  if (shape.size() != 1 || shape[0] == 0) {
    refuse(path, fmt::format("axis \"{}\" has shape ({}); it must be a list of at least one number", name,
                             fmt::join(shape, ", ")));
  }
  Axis axis{name, file.read_all<double>(name)};
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    if (!std::isfinite(axis.values[i])) refuse(path, fmt::format("axis \"{}\": entry {} is not finite", name, i));
    if (i > 0 && axis.values[i] <= axis.values[i - 1]) {
      refuse(path, fmt::format("axis \"{}\": entry {} is {:g} after {:g}; it must increase", name, i, axis.values[i],
                               axis.values[i - 1]));
    }
  }
  return axis;
}

std::vector<double> read_table(const io::Input& file, const std::string& name, std::span<const Axis> axes) {
  const std::string path = file.path().string();
  std::vector<std::uint64_t> expected;
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    expected.push_back(axis.values.size());
    names.push_back(axis.name);
  }
  if (const auto shape = shape_of(file, name); shape != expected) {
    refuse(path, fmt::format("array \"{}\" has shape ({}); its axes ({}) have ({}) entries", name,
                             fmt::join(shape, ", "), fmt::join(names, ", "), fmt::join(expected, ", ")));
  }
  std::vector<double> values = file.read_all<double>(name);
  const auto bad = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
  if (bad > 0) refuse(path, fmt::format("array \"{}\" has {} NaN among {} values", name, bad, values.size()));
  return values;
}

AxisPosition locate(const Axis& axis, double value) {
  const auto& v = axis.values;
  if (value <= v.front()) return {0, 0, 0, value < v.front()};
  if (value >= v.back()) return {v.size() - 1, v.size() - 1, 0, value > v.back()};
  const auto high = std::size_t(std::ranges::upper_bound(v, value) - v.begin());
  return {high - 1, high, (value - v[high - 1]) / (v[high] - v[high - 1]), false};
}

AxisPosition locate_redshift(const Axis& axis, double redshift, const std::string& file) {
  const double rounding = axis.values.size() == 1 ? 0.01 : 1e-5;
  if (!(redshift >= axis.values.front() - rounding && redshift <= axis.values.back() + rounding)) {
    refuse(file, fmt::format("table covers redshifts {:.4g} to {:.4g}, not {:.4g}; use one that does",
                             axis.values.front(), axis.values.back(), redshift));
  }
  return locate(axis, redshift);
}

}  // namespace thor::emission
