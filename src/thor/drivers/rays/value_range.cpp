#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/drivers/rays/cell_fields.hpp"

namespace thor {

ValueRange CellFields::range_of(const std::string& product) {
  const FieldUse use = this->use(product);
  if (use.quantity.velocity >= 0) {
    throw Error(ExitCode::usage, "the velocity along a ray is not an array of the file: use one of its components");
  }
  const FieldArray& field = field_of(use);
  const std::span<const float> numbers(field.numbers.get(), field.count);
  ValueRange range{HUGE_VAL, HUGE_VAL, -HUGE_VAL, 0, 0};
  for (const float number : numbers) {
    const double value = double(number);
    range.least = std::min(range.least, value), range.largest = std::max(range.largest, value);
    if (value > 0) range.least_positive = std::min(range.least_positive, value);
  }
  // What is faint fills most of a box: the upper half of the cells is shown, but not the few largest values.
  const std::int64_t count = cells().cells(), step = std::max<std::int64_t>(count >> 20, 1);
  const bool has_both_signs = range.least < 0 && range.largest > 0;
  std::vector<std::pair<float, double>> sample;  // values and volumes
  double volume = 0;
  const auto add = [&](float value, std::int64_t cell) {
    sample.emplace_back(value, cells().volume(cell)), volume += sample.back().second;
  };
  for (std::int64_t i = 0; i < count; i += step) {
    const float value = numbers[cells().index(i)];
    if (has_both_signs) {
      add(std::abs(value), i);
    } else if (value > 0 || !(range.largest > 0)) {
      add(value, i);
    }
  }
  std::ranges::sort(sample);
  const auto quantile = [&](double share) {
    double below = 0;
    for (const auto& [value, of_cell] : sample) {
      below += of_cell;
      if (below > share * volume) return double(value);
    }
    return sample.empty() ? range.largest : double(sample.back().first);
  };
  range.low = quantile(0.5), range.high = quantile(0.9999);
  if (has_both_signs) range.low = -range.high;  // 0 is in the middle
  for (double* value : {&range.least, &range.least_positive, &range.largest, &range.low, &range.high}) {
    *value *= use.unit;
  }
  return range;
}

}  // namespace thor
